import { SecretDialog } from '../../ui/secret-dialog.tsx';

interface CodesDialogProps {
  readonly title: string;
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function CodesDialog({ title, codes, onClose }: CodesDialogProps) {
  return (
    <SecretDialog title={title} name="list of recovery codes" value={codes.join('\n')} onClose={onClose}>
      <p>
        Use a recovery code to sign in if you lose your phone. Each code works once. Store them apart from
        your password.
      </p>
    </SecretDialog>
  );
}
