import { linkOptions } from '@tanstack/react-router';
import type { Answer } from './client.ts';
import { deliveryNameOf } from './deliveries.ts';

export type Entry = Answer<'listAudit'>['entries'][number];
type Action = Entry['action'];

const actionWords: Readonly<Record<Action, string>> = {
  'session.started': 'signed in',
  'session.ended': 'ended a session',
  'identity.proved': 'proved who they are',
  'password.refused': 'refused a wrong password of',
  'code.refused': 'refused a wrong code of',
  'password.changed': 'changed their password',
  'password.reset_offered': 'created a password reset link for',
  'password.reset': 'set a new password with a reset link',
  'totp.enabled': 'turned on two-factor sign-in',
  'totp.disabled': 'turned off two-factor sign-in',
  'totp.reset': 'reset the second factor of',
  'passkey.added': 'added a passkey',
  'passkey.removed': 'removed a passkey',
  'second_factor.required': 'required a second factor of everyone',
  'second_factor.optional': 'made the second factor optional',
  'recovery_codes.renewed': 'created new recovery codes',
  'recovery_code.used': 'used a recovery code',
  'profile.changed': 'changed their name',
  'member.invited': 'invited',
  'invitation.revoked': 'revoked the invitation of',
  'member.joined': 'joined the company',
  'member.role_changed': 'changed the role of',
  'member.removed': 'removed',
  'company.created': 'created the company',
  'company.closed': 'closed the company',
  'company.opened': 'opened the company again',
  'company.exported': 'exported the data of the company',
  'limits.changed': 'changed the limits of',
  'key.created': 'created the API key',
  'key.changed': 'changed the API key',
  'key.rotated': 'rotated the API key',
  'key.rotation_ended': 'ended a rotation of the API key',
  'key.revoked': 'revoked the API key',
  'key.network_refused': 'refused, for its address, a call of',
  'subscription.created': 'added the subscription',
  'subscription.changed': 'changed the subscription',
  'subscription.enabled': 'enabled the subscription',
  'subscription.disabled': 'disabled the subscription',
  'subscription.secret_rotated': 'rotated the signing secret of',
  'subscription.deleted': 'deleted the subscription',
  'subscription.tested': 'tested the subscription',
  'subscription.verified': 'verified the receiver of',
  'endpoint_verification.enabled': 'turned on endpoint verification',
  'endpoint_verification.disabled': 'turned off endpoint verification',
  'delivery.resent': 'resent the delivery',
  'delivery.retried': 'retried the delivery',
  'delivery.cancelled': 'cancelled the delivery',
  'delivery.released': 'released the delivery',
  'delivery.shared': 'shared the delivery',
  'delivery.share_revoked': 'revoked a link to the delivery',
  'delivery.share_opened': 'showed, by a link, the delivery',
  'replay.created': 'started the replay',
  'replay.cancelled': 'cancelled the replay',
  'held.released': 'released the held deliveries of',
  'held.dropped': 'discarded the held deliveries of',
  'missed.dismissed': 'dismissed the missed events of',
  'notices.mail_changed': 'chose the mails of',
  'notices.channel_changed': 'changed the',
  'notices.channel_removed': 'removed the',
  'notices.channel_tested': 'tested the',
  'settings.imported': 'imported settings',
  'person.erased': 'erased',
};

const kindWords: Readonly<Record<Entry['target']['kind'], string>> = {
  company: 'The company',
  member: 'Members',
  invitation: 'Invitations',
  session: 'Sessions',
  key: 'API keys',
  subscription: 'Subscriptions',
  event: 'Events',
  delivery: 'Deliveries',
  replay: 'Replays',
  person: 'People',
};

const actionLabels: Readonly<Partial<Record<Action, string>>> = {
  'member.invited': 'Invited a member',
  'member.removed': 'Removed a member',
};

const labelOf = (action: Action): string => {
  const words = actionWords[action].replace(/ (?:of|for)$/, '');
  return actionLabels[action] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

export const actionOptions = (Object.keys(actionWords) as Action[]).map((value) => ({
  value: value as string,
  label: labelOf(value),
}));
export const kindOptions = Object.entries(kindWords).map(([value, label]) => ({ value, label }));

/** An owner created by an operator did not join by invitation. */
export const wordsOf = ({ action, actor }: Entry): string =>
  action === 'member.joined' && actor.kind !== 'user' ? 'created the owner' : actionWords[action];

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
  switch (kind) {
    case 'key':
      return linkOptions({ to: '/keys/$id', params });
    case 'subscription':
      return linkOptions({ to: '/subscriptions/$id', params });
    case 'event':
      return linkOptions({ to: '/events/$id', params });
    case 'replay':
      return linkOptions({ to: '/deliveries', search: { replay: params.id } });
    case 'person':
      return linkOptions({ to: '/clients/$id', params });
    case 'member':
      return linkOptions({ to: '/team', search: { member: params.id } });
    case 'delivery':
      return linkOptions({ to: '/deliveries/$event/$subscription/$replay', params: deliveryNameOf(id) });
    default:
      return undefined;
  }
};
