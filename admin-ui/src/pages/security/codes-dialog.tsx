import { SecretDialog } from '../../ui/secret-dialog.tsx';

interface CodesDialogProps {
  readonly title: string;
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

export function CodesDialog({ title, codes, onClose }: CodesDialogProps) {
  return (
    <SecretDialog title={title} name="list of recovery codes" value={codes.join('\n')} onClose={onClose}>
      <p>Each code lets you in once when the phone is lost. Keep them apart from your password.</p>
    </SecretDialog>
  );
}
