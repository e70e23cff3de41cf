import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, operationQuery, useMutation } from '../../api/client.ts';
import { type Role, roleAtLeast, sessionQuery, useSession } from '../../app/session.ts';
import { errorText, fieldError } from '../../errors.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { Checkbox, Fieldset, Form, Radio } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Quiet, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { MinuteAgo, Moment } from '../../ui/values.tsx';
import { keysQuery, teamQuery } from '../queries.ts';
import { nameOfMember } from './list-members.ts';
import s from './member-dialogs.module.css';
import type { Member } from './member-table.tsx';

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

const noKeys: readonly number[] = [];
const roleLabels = onFirstUse(() => ({ role: t`Role`, keep: t`API keys to keep` }));

function RoleForm({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const form = `team/role/${member.id}`;
  const draft = useDraft(form, { role: member.role, keep: noKeys }, roleLabels());
  const { role, keep } = draft.values;
  const demoted = !roleAtLeast(role, member.role);
  const change = useMutation({
    mutationFn: () =>
      call('changeRole', {
        params: { id: member.id },
        body: { role, ...(demoted && { keepKeys: [...keep] }) },
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
        <>
          <p>{t`Invitations and reset links that they created stop working.`}</p>
          <KeyChoice memberId={member.id} keep={keep} onChange={(to) => draft.set({ keep: to })} />
        </>
      )}
    </Form>
  );
}

export function RemoveMember({ member, onClose }: { member: Member | undefined; onClose: () => void }) {
  const [keep, setKeep] = useState<readonly number[]>([]);
  const remove = useMutation({
    mutationFn: (id: number) => call('removeMember', { params: { id }, query: { keepKeys: keep.join(',') } }),
    meta: { invalidates: [teamQuery.queryKey, keysQuery.queryKey] },
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
        <p>
          {member.you
            ? t`Your sessions end at once. Invitations and reset links that you created stop working. Subscriptions stay as they are.`
            : t`Their sessions end at once. Invitations and reset links that they created stop working. Subscriptions stay as they are.`}
        </p>
        <KeyChoice memberId={member.id} keep={keep} onChange={setKeep} />
      </Stack>
    </ConfirmDialog>
  );
}

interface KeyChoiceProps {
  readonly memberId: number;
  /** The keys to keep; all others are revoked. */
  readonly keep: readonly number[];
  readonly onChange: (keep: readonly number[]) => void;
}

/** Members know the values of the keys they created, so they can use the keys without the portal. */
function KeyChoice({ memberId, keep, onChange }: KeyChoiceProps) {
  const { data, error } = useQuery(memberKeysQuery(memberId));
  if (error) return <Notice tone="bad">{errorText(error)}</Notice>;
  if (!data) return <Quiet small>{t`Loading the API keys they created…`}</Quiet>;
  const { keys } = data;
  if (keys.length === 0) return <Quiet small>{t`They created no active API keys.`}</Quiet>;
  return (
    <Fieldset
      legend={t`Revoke ${plural({ count: keys.length }, { one: '# API key', other: '# API keys' })} they created`}
      hint={t`They know the values of these keys. A revoked key stops working at once and cannot be restored.`}
    >
      <div className={s.keys}>
        {keys.map((key) => (
          <Checkbox
            key={key.id}
            label={key.name}
            description={
              <>
                <code>{key.masked}</code>,{' '}
                {key.lastUsedUtc === null ? (
                  t`never used`
                ) : (
                  <Trans>
                    last used <MinuteAgo time={key.lastUsedUtc} />
                  </Trans>
                )}
              </>
            }
            checked={!keep.includes(key.id)}
            onChange={(event) =>
              onChange(event.target.checked ? keep.filter((id) => id !== key.id) : [...keep, key.id])
            }
          />
        ))}
      </div>
    </Fieldset>
  );
}

const memberKeysQuery = (id: number) => operationQuery('listMemberKeys', { params: { id } });

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
