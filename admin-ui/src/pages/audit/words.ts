import { t } from '@lingui/core/macro';
import { linkOptions } from '@tanstack/react-router';
import type { Answer } from '../../api/client.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';

export type Entry = Answer<'listAudit'>['entries'][number];
type Action = Entry['action'];

const actionWords = onFirstUse(
  (): Readonly<Record<Action, string>> => ({
    'session.started': t`signed in`,
    'session.ended': t`ended a session`,
    'identity.proved': t`proved who they are`,
    'password.refused': t`refused a wrong password of`,
    'code.refused': t`refused a wrong code of`,
    'password.changed': t`changed their password`,
    'password.reset_offered': t`created a password reset link for`,
    'password.reset': t`set a new password with a reset link`,
    'totp.enabled': t`turned on two-factor sign-in`,
    'totp.disabled': t`turned off two-factor sign-in`,
    'totp.reset': t`reset the second factor of`,
    'passkey.added': t`added a passkey`,
    'passkey.removed': t`removed a passkey`,
    'second_factor.required': t`required a second factor of everyone`,
    'second_factor.optional': t`made the second factor optional`,
    'recovery_codes.renewed': t`created new recovery codes`,
    'recovery_code.used': t`used a recovery code`,
    'profile.changed': t`changed their name`,
    'member.invited': t`invited`,
    'invitation.revoked': t`revoked the invitation of`,
    'member.joined': t`joined the company`,
    'member.role_changed': t`changed the role of`,
    'member.removed': t`removed`,
    'company.created': t`created the company`,
    'company.time_zone_changed': t`changed the time zone`,
    'limits.changed': t`changed the limits of`,
    'key.created': t`created the API key`,
    'key.changed': t`changed the API key`,
    'key.rotated': t`rotated the API key`,
    'key.rotation_ended': t`ended a rotation of the API key`,
    'key.revoked': t`revoked the API key`,
    'key.network_refused': t`refused, for its address, a call of`,
    'subscription.created': t`added the subscription`,
    'subscription.changed': t`changed the subscription`,
    'subscription.enabled': t`enabled the subscription`,
    'subscription.disabled': t`disabled the subscription`,
    'subscription.secret_rotated': t`rotated the signing secret of`,
    'subscription.deleted': t`deleted the subscription`,
    'subscription.tested': t`tested the subscription`,
    'subscription.verified': t`verified the receiver of`,
    'endpoint_verification.enabled': t`turned on endpoint verification`,
    'endpoint_verification.disabled': t`turned off endpoint verification`,
    'event.test_created': t`created the test event`,
    'delivery.resent': t`resent the delivery`,
    'delivery.retried': t`retried the delivery`,
    'delivery.cancelled': t`cancelled the delivery`,
    'delivery.released': t`released the delivery`,
    'delivery.shared': t`shared the delivery`,
    'delivery.share_revoked': t`revoked a link to the delivery`,
    'delivery.share_opened': t`showed, by a link, the delivery`,
    'replay.created': t`started the replay`,
    'replay.cancelled': t`cancelled the replay`,
    'held.released': t`released the held deliveries of`,
    'held.dropped': t`discarded the held deliveries of`,
    'missed.dismissed': t`dismissed the missed events of`,
    'failures.acknowledged': t`acknowledged failures of`,
    'failures.reopened': t`reopened failures of`,
    'notices.mail_changed': t`chose the mails of`,
    'notices.channel_changed': t`changed the`,
    'notices.channel_removed': t`removed the`,
    'notices.channel_tested': t`tested the`,
    'settings.imported': t`imported settings`,
    'person.erased': t`erased`,
  }),
);

const kindWords = onFirstUse(
  (): Readonly<Record<Entry['target']['kind'], string>> => ({
    company: t`The company`,
    member: t`Members`,
    invitation: t`Invitations`,
    session: t`Sessions`,
    key: t`API keys`,
    subscription: t`Subscriptions`,
    event: t`Events`,
    delivery: t`Deliveries`,
    replay: t`Replays`,
    person: t`People`,
  }),
);

const actionLabels = onFirstUse(
  (): Readonly<Partial<Record<Action, string>>> => ({
    'member.invited': t`Invited a member`,
    'member.removed': t`Removed a member`,
  }),
);

const labelOf = (action: Action): string => {
  const words = actionWords()[action].replace(/ (?:of|for)$|^(?:hat sich|hat|ist) |:$/g, '');
  return actionLabels()[action] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

export const actionOptions = onFirstUse(() =>
  (Object.keys(actionWords()) as Action[]).map((value) => ({
    value: value as string,
    label: labelOf(value),
  })),
);
export const kindOptions = onFirstUse(() =>
  Object.entries(kindWords()).map(([value, label]) => ({ value, label })),
);

/** An owner created by an operator did not join by invitation. */
export const wordsOf = ({ action, actor }: Entry): string =>
  action === 'member.joined' && actor.kind !== 'user' ? t`created the owner` : actionWords()[action];

export const namesTarget = ({ action, actor }: Entry): boolean =>
  action === 'password.reset_offered' ||
  action === 'password.refused' ||
  action === 'totp.reset' ||
  (action === 'member.joined' && actor.kind !== 'user') ||
  !/^(?:session|identity|password|totp|passkey|second_factor|recovery_codes?|profile|company|settings|endpoint_verification)\.|^member\.joined$/.test(
    action,
  );

/** Of the page that shows the target; undefined if there is none, or none any more. */
export const targetLink = ({ action, target: { kind, id } }: Entry) => {
  if (id === null || /\.(?:removed|deleted|erased)$/.test(action)) return undefined;
  const params = { id: Number(id) };
  const [event = 0, subscription = 0, replay = 0] = id.split('-').map(Number);
  switch (kind) {
    case 'key':
      return linkOptions({ to: '/keys/$id', params });
    case 'subscription':
      return linkOptions({ to: '/subscriptions/$id', params });
    case 'event':
      return linkOptions({ to: '/events/$id', params });
    case 'replay':
      return linkOptions({ to: '/replays/$id', params });
    case 'person':
      return linkOptions({ to: '/clients/$id', params });
    case 'member':
      return linkOptions({ to: '/team', search: { member: params.id } });
    case 'delivery':
      return linkOptions({
        to: '/deliveries/$event/$subscription/$replay',
        params: { event, subscription, replay },
      });
    default:
      return undefined;
  }
};
