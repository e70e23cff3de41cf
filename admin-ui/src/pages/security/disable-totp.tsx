import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { sessionQuery } from '../../app/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.ts';
import { PasswordForm, type Proof } from './password-form.tsx';
import { sessionsQuery } from './queries.ts';

export function DisableTotp({ onClose }: { readonly onClose: () => void }) {
  const disable = useMutation({
    mutationFn: (body: Proof) => call('disableTotp', { body }),
    meta: { invalidates: [sessionQuery.queryKey, sessionsQuery.queryKey] },
    onSuccess: () => {
      onClose();
      toast('Two-factor sign-in turned off');
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Turn off two-factor sign-in?"
      description="You will sign in with your password alone. Your other sessions end."
      size="s"
    >
      <PasswordForm
        withFactor
        submit="Turn off two-factor sign-in"
        danger
        mutation={disable}
        onClose={onClose}
      />
    </Dialog>
  );
}
