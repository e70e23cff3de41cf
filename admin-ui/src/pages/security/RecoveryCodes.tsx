import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { sessionQuery } from '../../app/session.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { CodesDialog } from './CodesDialog.tsx';
import { PasswordForm } from './PasswordForm.tsx';

interface RecoveryCodesProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export function RecoveryCodes({ open, onClose }: RecoveryCodesProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queryClient = useQueryClient();
  const renew = useMutation({
    mutationFn: (password: string) => call('regenerateRecoveryCodes', { body: { password } }),
    gcTime: 0,
    onSuccess: (answer) => {
      setCodes(answer.recoveryCodes);
      onClose();
      void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  if (codes)
    return <CodesDialog title="Your new recovery codes" codes={codes} onClose={() => setCodes(null)} />;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Make new recovery codes?"
      description="Those you have no longer work then."
      size="s"
    >
      <PasswordForm
        submit="Make new codes"
        pending={renew.isPending}
        error={renew.error}
        onSubmit={renew.mutate}
        onClose={onClose}
      />
    </Dialog>
  );
}
