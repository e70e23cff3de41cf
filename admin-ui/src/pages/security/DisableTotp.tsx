import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { sessionQuery } from '../../app/session.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { toast } from '../../ui/Toast.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import { sessionsQuery } from './route.ts';

export function DisableTotp({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient();
  const disable = useMutation({
    mutationFn: (password: string) => call('disableTotp', { body: { password } }),
    onSuccess: () => {
      onClose();
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      toast('Two-factor sign-in is off');
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Switch two-factor sign-in off?"
      description="From then on the password alone lets you in. You are signed out everywhere else."
      size="s"
    >
      <PasswordForm
        submit="Switch off"
        danger
        pending={disable.isPending}
        error={disable.error}
        onSubmit={disable.mutate}
        onClose={onClose}
      />
    </Dialog>
  );
}
