import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { nameOfMember } from '../../app/name-of-member.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Stack } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
import { keysQuery } from '../keys/queries.ts';
import { KeyChoice } from './key-choice.tsx';
import type { Member } from './member-table.tsx';
import { teamQuery } from './queries.ts';

interface RemoveMemberProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

export function RemoveMember({ member, onClose }: RemoveMemberProps) {
  const [keep, setKeep] = useState<readonly number[]>([]);
  const remove = useMutation({
    mutationFn: (id: number) => call('removeMember', { params: { id }, query: { keepKeys: keep.join(',') } }),
    meta: { invalidates: [teamQuery.queryKey, keysQuery.queryKey] },
    onSuccess: () => {
      if (member) toast(`${nameOfMember(member)} removed`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={member.you ? 'Leave this company?' : `Remove ${nameOfMember(member)}?`}
      confirm={member.you ? 'Leave company' : 'Remove member'}
      danger
      typed={member.role === 'owner' ? (member.you ? 'leave' : 'remove') : undefined}
      mutation={remove}
      onSubmit={() => remove.mutate(member.id)}
    >
      <Stack>
        <p>
          {member.you ? 'Your' : 'Their'} sessions end at once. Invitations and reset links that{' '}
          {member.you ? 'you' : 'they'} created stop working. Subscriptions stay as they are.
        </p>
        <KeyChoice memberId={member.id} keep={keep} onChange={setKeep} />
      </Stack>
    </ConfirmDialog>
  );
}
