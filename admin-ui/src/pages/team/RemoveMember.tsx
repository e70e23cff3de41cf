import { useMutation, useQueryClient } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { nameOfMember } from '../../app/session.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { toast } from '../../ui/Toast.tsx';
import type { Member } from './MemberTable.tsx';
import { teamQuery } from './route.ts';

interface RemoveMemberProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

export function RemoveMember({ member, onClose }: RemoveMemberProps) {
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: (id: number) => call('removeMember', { params: { id } }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: teamQuery.queryKey });
      if (member) toast(`${nameOfMember(member)} is removed`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={member.you ? 'Leave this company?' : `Remove ${nameOfMember(member)}?`}
      confirm={member.you ? 'Leave' : 'Remove'}
      danger
      typed={member.role === 'owner' ? member.email : undefined}
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(member.id)}
    >
      <p>
        {member.you ? 'You are' : 'They are'} signed out everywhere at once, and can only come back by a new
        invitation. API keys and subscriptions stay as they are.
      </p>
    </ConfirmDialog>
  );
}
