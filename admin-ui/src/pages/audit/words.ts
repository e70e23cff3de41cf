import type { Answer } from '../../api/types.ts';

export type Entry = Answer<'listAudit'>['entries'][number];
type Action = Entry['action'];

/** What was done, as the end of a sentence that begins with who did it. */
export const actionWords: Readonly<Record<Action, string>> = {
  'session.started': 'signed in',
  'session.ended': 'ended a session',
  'password.changed': 'changed the password',
  'password.reset_offered': 'made a link for a new password of',
  'password.reset': 'chose a new password by a link',
  'totp.enabled': 'switched two-factor sign-in on',
  'totp.disabled': 'switched two-factor sign-in off',
  'recovery_codes.renewed': 'renewed the recovery codes',
  'profile.changed': 'changed the name',
  'member.invited': 'invited',
  'invitation.revoked': 'took back the invitation of',
  'member.joined': 'joined',
  'member.role_changed': 'changed the role of',
  'member.removed': 'removed',
  'company.created': 'created the company',
  'limits.changed': 'changed the limits of',
  'key.created': 'created the API key',
  'key.revoked': 'revoked the API key',
  'subscription.created': 'added the subscription',
  'subscription.changed': 'changed the subscription',
  'subscription.enabled': 'switched on the subscription',
  'subscription.disabled': 'switched off the subscription',
  'subscription.secret_rotated': 'renewed the secret of',
  'subscription.deleted': 'deleted the subscription',
  'subscription.tested': 'tested the subscription',
  'event.test_created': 'sent the test event',
  'delivery.resent': 'resent the delivery',
  'replay.created': 'began the replay',
  'replay.cancelled': 'cancelled the replay',
  'held.released': 'released what was held of',
  'held.dropped': 'dropped what was held of',
};

export const kindWords: Readonly<Record<Entry['target']['kind'], string>> = {
  company: 'The company',
  member: 'Members',
  invitation: 'Invitations',
  session: 'Sessions',
  key: 'API keys',
  subscription: 'Subscriptions',
  event: 'Events',
  delivery: 'Deliveries',
  replay: 'Replays',
};

/** An owner whom an operator made did not join by an invitation. */
export const wordsOf = ({ action, actor }: Entry): string =>
  action === 'member.joined' && actor.kind !== 'user' ? 'made the owner' : actionWords[action];

/** Where the sentence is whole without naming the thing. */
export const namesTarget = ({ action, actor }: Entry): boolean =>
  action === 'password.reset_offered' ||
  (action === 'member.joined' && actor.kind !== 'user') ||
  !/^(?:session|password|totp|recovery_codes|profile|company)\.|^member\.joined$/.test(action);
