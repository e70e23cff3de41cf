import { useState } from 'react';
import { type Answer, call } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { type Role, roleAtLeast, useSession } from '../../model/session.ts';
import { ConfirmDialog, Dialog, SecretFlow } from '../../ui/dialog.tsx';
import { type Shown, useDialog } from '../../ui/dialog-button.tsx';
import { Fieldset, Form, Radio } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Moment } from '../../ui/values.tsx';
import type { Member } from './member-table.tsx';
import { type Keep, nothing, WorkChoice } from './member-work.tsx';

interface MemberDialogProps extends Shown {
  readonly member: Member;
}

const ChangeRole = ({ member, ...shown }: MemberDialogProps) => (
  <Dialog
    {...shown}
    title={`Change the role of ${nameOfMember(member)}`}
    description="Takes effect on their next request."
  >
    <RoleForm member={member} onClose={shown.onClose} />
  </Dialog>
);

const roleLabels = { role: 'Role', keep: 'What stays' };

function RoleForm({ member, onClose }: Omit<MemberDialogProps, 'open'>) {
  const draft = useDraft(`team/role/${member.id}`, { role: member.role, keep: nothing }, roleLabels);
  const { role, keep } = draft.values;
  const demoted = !roleAtLeast(role, member.role);
  const kept = {
    keepKeys: [...keep.keys],
    keepSubscriptions: [...keep.subscriptions],
    keepChannels: [...keep.channels],
  };
  return (
    <Form
      draft={draft}
      act={() => call('changeRole', { params: { id: member.id }, body: { role, ...(demoted && kept) } })}
      done={`${nameOfMember(member)} now has the role ${role}`}
      onDone={onClose}
      submit="Change role"
      submitDisabledReason={role === member.role ? 'They already have this role' : undefined}
      onCancel={onClose}
    >
      <RoleChoice value={role} onChange={(to) => draft.set({ role: to })} />
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

function RemoveMember({ member, ...shown }: MemberDialogProps) {
  const [keep, setKeep] = useState<Keep>(nothing);
  const kept = {
    keepKeys: keep.keys.join(','),
    keepSubscriptions: keep.subscriptions.join(','),
    keepChannels: keep.channels.join(','),
  };
  return (
    <ConfirmDialog
      {...shown}
      title={member.you ? 'Leave this company?' : `Remove ${nameOfMember(member)}?`}
      confirm={member.you ? 'Leave company' : 'Remove member'}
      danger
      typed={member.role === 'owner' ? (member.you ? 'leave' : 'remove') : undefined}
      act={() => call('removeMember', { params: { id: member.id }, query: kept })}
      done={`${nameOfMember(member)} removed`}
    >
      <p>{member.you ? 'Your sessions end at once.' : 'Their sessions end at once.'}</p>
      <WorkChoice memberId={member.id} name={nameOfMember(member)} to={null} keep={keep} onChange={setKeep} />
    </ConfirmDialog>
  );
}

const OfferPassword = ({ member, ...shown }: MemberDialogProps) => (
  <SecretFlow
    {...shown}
    size="s"
    title={`Reset the password of ${nameOfMember(member)}?`}
    form={(onMade: (made: Answer<'offerPasswordReset'>) => void) => (
      <Form
        act={() => call('offerPasswordReset', { params: { id: member.id } })}
        onDone={onMade}
        submit="Create reset link"
        onCancel={shown.onClose}
      >
        <p>
          You get a link to send to them. When they use it, their sessions in this company end and they sign
          in with the new password. Their current password works until then.
        </p>
      </Form>
    )}
    secret={({ link, mailed, expiresUtc }) => ({
      ...{ title: 'Password reset link', name: 'link', value: `${location.origin}${link}` },
      children: (
        <p>
          {mailed ? 'It also goes to them by mail.' : 'No mail was sent.'} Send this link to the person
          privately: anyone who opens it can choose the password. It works once, until{' '}
          <Moment time={expiresUtc} />.
        </p>
      ),
    })}
  />
);

const ResetTwoFactor = ({ member, ...shown }: MemberDialogProps) => (
  <ConfirmDialog
    {...shown}
    title={`Reset the second factor of ${nameOfMember(member)}?`}
    confirm="Reset second factor"
    danger
    act={() => call('resetSecondFactor', { params: { id: member.id } })}
    done={`Second factor of ${nameOfMember(member)} reset`}
  >
    <p>
      For a member who lost the authenticator app, the passkeys and the recovery codes: all of them are
      removed. Make sure that they ask you themselves: from then on their password alone signs in. Their
      sessions end at once, and an unused password reset link stops working.
    </p>
  </ConfirmDialog>
);

/** By their names in the URL. */
const memberDialogs = {
  role: ChangeRole,
  password: OfferPassword,
  factor: ResetTwoFactor,
  remove: RemoveMember,
};

/** All are there while a member is chosen: a link that was made is shown though its dialog is left. */
export const MemberDialogs = ({ member }: { readonly member: Member }) => {
  const { dialog, close } = useDialog();
  return Object.entries(memberDialogs).map(([name, MemberDialog]) => (
    <MemberDialog key={name} member={member} open={dialog === name} onClose={close} />
  ));
};

interface RoleChoiceProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

export function RoleChoice({ value, onChange }: RoleChoiceProps) {
  const { role } = useSession().user;
  return (
    <Fieldset legend="Role" name="role">
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
