import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useMutation } from '../../api/mutation.ts';
import type { Role } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { teamQuery } from './queries.ts';
import { RoleChoice } from './role-choice.tsx';

interface InviteMemberProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

export function InviteMember({ open, onClose }: InviteMemberProps) {
  const [link, setLink] = useState<string | null>(null);
  if (link !== null) {
    return (
      <SecretDialog title="Invitation link" name="link" value={link} onClose={() => setLink(null)}>
        <p>Send this link to the person privately. Anyone who opens it first can join.</p>
      </SecretDialog>
    );
  }
  return (
    <Dialog open={open} onClose={onClose} title="Invite a member">
      <InviteForm
        onClose={onClose}
        onDone={(path) => {
          setLink(`${location.origin}${path}`);
          onClose();
        }}
      />
    </Dialog>
  );
}

function InviteForm({ onClose, onDone }: { onClose: () => void; onDone: (path: string) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('developer');
  const invite = useMutation({
    mutationFn: () => call('inviteMember', { body: { email, role } }),
    gcTime: 0,
    meta: { invalidates: [teamQuery.queryKey] },
    onSuccess: (answer) => onDone(answer.link),
  });
  return (
    <Form
      mutation={invite}
      fields={['email', 'role']}
      submit="Create invitation link"
      secondary={<Button onClick={onClose}>Cancel</Button>}
    >
      <Field label="Email" hint="They sign in with this address." error={fieldError(invite.error, 'email')}>
        <TextInput type="email" value={email} onChange={(event) => setEmail(event.target.value)} />
      </Field>
      <RoleChoice value={role} onChange={setRole} error={fieldError(invite.error, 'role')} />
    </Form>
  );
}
