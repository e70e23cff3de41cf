import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import { nameOfMember } from '../../app/name-of-member.ts';
import { type Role, roleAtLeast, sessionQuery } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.ts';
import { keysQuery } from '../keys/queries.ts';
import { KeyChoice } from './key-choice.tsx';
import type { Member } from './member-table.tsx';
import { teamQuery } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

interface ChangeRoleProps {
  readonly member: Member | undefined;
  readonly onClose: () => void;
}

export function ChangeRole({ member, onClose }: ChangeRoleProps) {
  if (!member) return null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Change the role of ${nameOfMember(member)}`}
      description="Takes effect on their next request."
    >
      <RoleForm member={member} onClose={onClose} />
    </Dialog>
  );
}

function RoleForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const [role, setRole] = useState<Role>(member.role);
  const [keep, setKeep] = useState<readonly number[]>([]);
  const demoted = !roleAtLeast(role, member.role);
  const change = useMutation({
    mutationFn: () =>
      call('changeRole', {
        params: { id: member.id },
        body: { role, ...(demoted && { keepKeys: [...keep] }) },
      }),
    meta: { invalidates: [teamQuery.queryKey, keysQuery.queryKey, sessionQuery.queryKey] },
    onSuccess: () => {
      toast(`${nameOfMember(member)} now has the role ${role}`);
      onClose();
    },
  });
  return (
    <Form
      mutation={change}
      fields={['role']}
      submit="Change role"
      submitDisabledReason={role === member.role ? 'They already have this role' : undefined}
      secondary={<Button onClick={onClose}>Cancel</Button>}
    >
      <RoleChoice value={role} onChange={setRole} error={fieldError(change.error, 'role')} />
      {demoted && (
        <>
          <p>Invitations and reset links that they created stop working.</p>
          <KeyChoice memberId={member.id} keep={keep} onChange={setKeep} />
        </>
      )}
    </Form>
  );
}
