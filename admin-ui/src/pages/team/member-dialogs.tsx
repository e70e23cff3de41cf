import { useState } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { type Role, roleAtLeast, useSession } from '../../model/session.ts';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Fieldset, Form, Radio } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Stack } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
import { Moment } from '../../ui/values.tsx';
import type { Member } from './member-table.tsx';
import { type Keep, nothing, WorkChoice } from './member-work.tsx';

export function ChangeRole({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
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

const roleLabels = { role: 'Role', keep: 'What stays' };

function RoleForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const form = `team/role/${member.id}`;
  const draft = useDraft(form, { role: member.role, keep: nothing }, roleLabels);
  const { role, keep } = draft.values;
  const demoted = !roleAtLeast(role, member.role);
  const change = useMutation({
    mutationFn: () =>
      call('changeRole', {
        params: { id: member.id },
        body: {
          role,
          ...(demoted && {
            keepKeys: [...keep.keys],
            keepSubscriptions: [...keep.subscriptions],
            keepChannels: [...keep.channels],
          }),
        },
      }),
    meta: { saves: form },
    onSuccess: () => {
      toast(`${nameOfMember(member)} now has the role ${role}`);
      onClose();
    },
  });
  return (
    <Form
      draft={draft}
      mutation={change}
      fields={['role']}
      submit="Change role"
      submitDisabledReason={role === member.role ? 'They already have this role' : undefined}
      onCancel={onClose}
    >
      <RoleChoice
        value={role}
        onChange={(to) => draft.set({ role: to })}
        error={fieldError(change.error, 'role')}
      />
      {demoted && (
        <WorkChoice
          memberId={member.id}
          name={nameOfMember(member)}
          to={role}
          keep={keep}
          onChange={(to) => draft.set({ keep: to })}
        />
      )}
    </Form>
  );
}

export function RemoveMember({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const [keep, setKeep] = useState<Keep>(nothing);
  const remove = useMutation({
    mutationFn: (id: number) =>
      call('removeMember', {
        params: { id },
        query: {
          keepKeys: keep.keys.join(','),
          keepSubscriptions: keep.subscriptions.join(','),
          keepChannels: keep.channels.join(','),
        },
      }),
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
        <p>{member.you ? 'Your sessions end at once.' : 'Their sessions end at once.'}</p>
        <WorkChoice
          memberId={member.id}
          name={nameOfMember(member)}
          to={null}
          keep={keep}
          onChange={setKeep}
        />
      </Stack>
    </ConfirmDialog>
  );
}

export function OfferPassword({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const [link, setLink] = useState<{
    readonly url: string;
    readonly expiresUtc: string;
    readonly mailed: boolean;
  } | null>(null);
  const offer = useMutation({
    mutationFn: (id: number) => call('offerPasswordReset', { params: { id } }),
    gcTime: 0,
    onSuccess: (answer) => {
      const { link: path, ...more } = answer;
      setLink({ url: `${location.origin}${path}`, ...more });
      onClose();
    },
  });
  if (link !== null) {
    return (
      <SecretDialog title="Password reset link" name="link" value={link.url} onClose={() => setLink(null)}>
        <p>
          {link.mailed ? 'It also goes to them by mail.' : 'No mail was sent.'} Send this link to the person
          privately: anyone who opens it can choose the password. It works once, until{' '}
          <Moment time={link.expiresUtc} />.
        </p>
      </SecretDialog>
    );
  }
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Reset the password of ${nameOfMember(member)}?`}
      confirm="Create reset link"
      mutation={offer}
      onSubmit={() => offer.mutate(member.id)}
    >
      <p>
        You get a link to send to them. When they use it, their sessions in this company end and they sign in
        with the new password. Their current password works until then.
      </p>
    </ConfirmDialog>
  );
}

export function ResetTwoFactor({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const reset = useMutation({
    mutationFn: (id: number) => call('resetSecondFactor', { params: { id } }),
    onSuccess: () => {
      if (member) toast(`Second factor of ${nameOfMember(member)} reset`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Reset the second factor of ${nameOfMember(member)}?`}
      confirm="Reset second factor"
      danger
      mutation={reset}
      onSubmit={() => reset.mutate(member.id)}
    >
      <p>
        For a member who lost the authenticator app, the passkeys and the recovery codes: all of them are
        removed. Make sure that they ask you themselves: from then on their password alone signs in. Their
        sessions end at once, and an unused password reset link stops working.
      </p>
    </ConfirmDialog>
  );
}

interface RoleChoiceProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly error: string | undefined;
}

export function RoleChoice({ value, onChange, error }: RoleChoiceProps) {
  const { role } = useSession().user;
  return (
    <Fieldset legend="Role" error={error}>
      {roleWords
        .filter((one) => one.role !== 'owner' || roleAtLeast(role, 'owner'))
        .map((one) => (
          <Radio
            key={one.role}
            name="role"
            label={one.label}
            description={one.description}
            checked={value === one.role}
            onChange={() => onChange(one.role)}
          />
        ))}
    </Fieldset>
  );
}

/** Lowest first. Each role includes the permissions of those before it. */
const roleWords: readonly {
  readonly role: Role;
  readonly label: string;
  readonly description: string;
}[] = [
  { role: 'viewer', label: 'Viewer', description: 'Can view everything except personal data.' },
  {
    role: 'developer',
    label: 'Developer',
    description: 'Also manages API keys and subscriptions, sends tests and replays deliveries.',
  },
  {
    role: 'admin',
    label: 'Admin',
    description: 'Also invites and removes people, and reads the audit log.',
  },
  { role: 'owner', label: 'Owner', description: 'Also adds, changes and removes owners.' },
];
