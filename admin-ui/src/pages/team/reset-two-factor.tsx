import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { nameOfMember } from '../../app/name-of-member.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.ts';
import type { Member } from './member-table.tsx';
import { teamQuery } from './queries.ts';

interface ResetTwoFactorProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

export function ResetTwoFactor({ member, onClose }: ResetTwoFactorProps) {
  const reset = useMutation({
    mutationFn: (id: number) => call('resetSecondFactor', { params: { id } }),
    meta: { invalidates: [teamQuery.queryKey] },
    onSuccess: () => {
      if (member) toast(`Two-factor sign-in of ${nameOfMember(member)} turned off`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Turn off two-factor sign-in of ${nameOfMember(member)}?`}
      confirm="Turn off two-factor"
      danger
      mutation={reset}
      onSubmit={() => reset.mutate(member.id)}
    >
      <p>
        For a member who lost the authenticator app and the recovery codes. Make sure that they ask you
        themselves: from then on their password alone signs in. Their sessions end at once, and an unused
        password reset link stops working.
      </p>
    </ConfirmDialog>
  );
}
