import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useState } from 'react';
import { call, useMutation } from '../../api/client.ts';
import { type Role, roleAtLeast, sessionQuery, useSession } from '../../app/session.ts';
import { fieldError } from '../../errors.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { Fieldset, Form, Radio } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Stack } from '../../ui/layout.tsx';
import { toast } from '../../ui/toast.ts';
import { Moment } from '../../ui/values.tsx';
import { keysQuery, subscriptionsQuery, teamQuery } from '../queries.ts';
import { nameOfMember } from './list-members.ts';
import type { Member } from './member-table.tsx';
import { type Keep, nothing, WorkChoice } from './member-work.tsx';

export function ChangeRole({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  if (!member) return null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t`Change the role of ${{ name: nameOfMember(member) }}`}
      description={t`Takes effect on their next request.`}
    >
      <RoleForm member={member} onClose={onClose} />
    </Dialog>
  );
}

const roleLabels = onFirstUse(() => ({ role: t`Role`, keep: t`What stays` }));

function RoleForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const form = `team/role/${member.id}`;
  const draft = useDraft(form, { role: member.role, keep: nothing }, roleLabels());
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
    meta: { invalidates: [teamQuery.queryKey, keysQuery.queryKey, sessionQuery.queryKey], saves: form },
    onSuccess: () => {
      toast(t`${{ name: nameOfMember(member) }} now has the role ${role}`);
      onClose();
    },
  });
  return (
    <Form
      draft={draft}
      mutation={change}
      fields={['role']}
      submit={t`Change role`}
      submitDisabledReason={role === member.role ? t`They already have this role` : undefined}
      onCancel={onClose}
    >
      <RoleChoice
        value={role}
        onChange={(to) => draft.set({ role: to })}
        error={fieldError(change.error, 'role')}
      />
      {demoted && (
        <WorkChoice memberId={member.id} to={role} keep={keep} onChange={(to) => draft.set({ keep: to })} />
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
    meta: {
      invalidates: [
        teamQuery.queryKey,
        keysQuery.queryKey,
        subscriptionsQuery.queryKey,
        ['listDeliveryShares'],
        ['getNoticeChannels'],
      ],
    },
    onSuccess: () => {
      if (member) toast(t`${{ name: nameOfMember(member) }} removed`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={member.you ? t`Leave this company?` : t`Remove ${{ name: nameOfMember(member) }}?`}
      confirm={member.you ? t`Leave company` : t`Remove member`}
      danger
      typed={member.role === 'owner' ? (member.you ? t`leave` : t`remove`) : undefined}
      mutation={remove}
      onSubmit={() => remove.mutate(member.id)}
    >
      <Stack>
        <p>{member.you ? t`Your sessions end at once.` : t`Their sessions end at once.`}</p>
        <WorkChoice memberId={member.id} to={null} keep={keep} onChange={setKeep} />
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
      <SecretDialog
        title={t`Password reset link`}
        name={t`link`}
        value={link.url}
        onClose={() => setLink(null)}
      >
        <p>
          {link.mailed ? t`It also goes to them by mail.` : t`No mail was sent.`}{' '}
          <Trans>
            Send this link to the person privately: anyone who opens it can choose the password. It works
            once, until <Moment time={link.expiresUtc} />.
          </Trans>
        </p>
      </SecretDialog>
    );
  }
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t`Reset the password of ${{ name: nameOfMember(member) }}?`}
      confirm={t`Create reset link`}
      mutation={offer}
      onSubmit={() => offer.mutate(member.id)}
    >
      <p>
        {t`You get a link to send to them. When they use it, their sessions in this company end and they sign in with the new password. Their current password works until then.`}
      </p>
    </ConfirmDialog>
  );
}

export function ResetTwoFactor({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const reset = useMutation({
    mutationFn: (id: number) => call('resetSecondFactor', { params: { id } }),
    meta: { invalidates: [teamQuery.queryKey] },
    onSuccess: () => {
      if (member) toast(t`Second factor of ${{ name: nameOfMember(member) }} reset`);
      onClose();
    },
  });
  if (!member) return null;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t`Reset the second factor of ${{ name: nameOfMember(member) }}?`}
      confirm={t`Reset second factor`}
      danger
      mutation={reset}
      onSubmit={() => reset.mutate(member.id)}
    >
      <p>
        {t`For a member who lost the authenticator app, the passkeys and the recovery codes: all of them are removed. Make sure that they ask you themselves: from then on their password alone signs in. Their sessions end at once, and an unused password reset link stops working.`}
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
    <Fieldset legend={t`Role`} error={error}>
      {roleWords()
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
const roleWords = onFirstUse(
  (): readonly {
    readonly role: Role;
    readonly label: string;
    readonly description: string;
  }[] => [
    { role: 'viewer', label: t`Viewer`, description: t`Can view everything except personal data.` },
    {
      role: 'developer',
      label: t`Developer`,
      description: t`Also manages API keys and subscriptions, sends tests and replays deliveries.`,
    },
    {
      role: 'admin',
      label: t`Admin`,
      description: t`Also invites and removes people, and reads the audit log.`,
    },
    { role: 'owner', label: t`Owner`, description: t`Also adds, changes and removes owners.` },
  ],
);
