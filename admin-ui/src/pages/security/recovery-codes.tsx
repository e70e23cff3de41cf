import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { sessionQuery } from '../../app/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CodesDialog } from './codes-dialog.tsx';
import { PasswordForm, type Proof } from './password-form.tsx';

interface RecoveryCodesProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export function RecoveryCodes({ open, onClose }: RecoveryCodesProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const renew = useMutation({
    mutationFn: (body: Proof) => call('regenerateRecoveryCodes', { body }),
    gcTime: 0,
    meta: { invalidates: [sessionQuery.queryKey] },
    onSuccess: (answer) => {
      setCodes(answer.recoveryCodes);
      onClose();
    },
  });
  if (codes)
    return <CodesDialog title="Your new recovery codes" codes={codes} onClose={() => setCodes(null)} />;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Create new recovery codes?"
      description="Your current recovery codes stop working."
      size="s"
    >
      <PasswordForm withFactor submit="Create recovery codes" mutation={renew} onClose={onClose} />
    </Dialog>
  );
}
