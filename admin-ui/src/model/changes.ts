import type { Contract, MemberOperationId } from '@causeway/proto';

type ChangeId = {
  [Id in MemberOperationId]: Contract[Id]['method'] extends 'GET' ? never : Id;
}[MemberOperationId];

const subscription = [
  'listPortalSubscriptions',
  'getPortalSubscription',
  'getAttention',
  'listPortalIncidents',
  'getFirstDeliverySteps',
  'listAudit',
] as const;
const deliveries = [
  'listDeliveries',
  'countDeliveries',
  'getDelivery',
  'listFailureCauses',
  'listReplays',
  ...subscription,
] as const;
const keys = ['listApiKeys', 'getKeyUse', 'getFirstSteps', 'listMemberKeys', 'listAudit'] as const;
const team = ['listTeam', 'listAudit'] as const;
const factors = ['getSession', 'listSessions', 'listPasskeys', ...team] as const;
const channels = ['getNoticeChannels', 'listMemberWork', 'listAudit'] as const;
const settings = ['getSubscriptionSettings', ...subscription] as const;
const sessions = ['listSessions', 'listAudit'] as const;

/** The queries whose answers an operation changes. Those that are shown are asked again after it. */
export const changes: Readonly<Record<ChangeId, readonly MemberOperationId[]>> = {
  createPortalSubscription: subscription,
  updatePortalSubscription: deliveries,
  rotatePortalSubscriptionSecret: subscription,
  // Its own page is still open for a moment, and must not ask for it.
  deletePortalSubscription: ['listPortalSubscriptions', 'getAttention', 'listDeliveries', 'listAudit'],
  testPortalSubscription: ['getFirstDeliverySteps', 'getAttention', 'listAudit'],
  updateSubscriptionSettings: settings,
  releaseHeld: deliveries,
  discardHeld: deliveries,
  dismissMissedEvents: deliveries,
  createReplay: deliveries,
  cancelReplay: deliveries,
  resendDelivery: deliveries,
  retryDelivery: deliveries,
  releaseDelivery: deliveries,
  cancelDelivery: deliveries,
  shareDelivery: ['listDeliveryShares', 'listAudit'],
  revokeDeliveryShare: ['listDeliveryShares', 'listAudit'],
  // The payloads of events follow within seconds: `ErasePerson` asks for them later.
  erasePortalPerson: ['getPortalPerson', 'listPortalPeople', 'listAudit'],
  createApiKey: keys,
  updateApiKey: keys,
  rotateApiKey: keys,
  endKeyRotation: keys,
  revokeApiKey: keys,
  inviteMember: team,
  revokeInvitation: team,
  changeRole: ['getSession', 'listDeliveryShares', ...keys, ...channels, ...subscription, ...team],
  removeMember: ['listDeliveryShares', ...keys, ...channels, ...subscription, ...team],
  offerPasswordReset: team,
  resetSecondFactor: team,
  requireSecondFactor: ['getSession', ...team],
  updateProfile: ['getSession', ...team],
  changePassword: sessions,
  revokeSession: sessions,
  revokeOtherSessions: sessions,
  proveIdentity: [],
  // The recovery codes are shown first: their dialog asks again once it is closed.
  addPasskey: [],
  confirmTotp: [],
  removePasskey: factors,
  disableTotp: factors,
  regenerateRecoveryCodes: factors,
  updateNoticeSettings: ['getNoticeSettings', 'listAudit'],
  updateNoticeChannel: channels,
  testNoticeChannel: channels,
  readNotices: ['listNotices'],
  beginImport: ['listAudit'],
  // These change what the browser knows as a whole, or nothing.
  signIn: [],
  signInWithPasskey: [],
  signOut: [],
  switchCompany: [],
  acceptInvitation: [],
  resetPassword: [],
  startPasskey: [],
  startPasskeySignIn: [],
  startProof: [],
  startTotp: [],
  getInvitation: [],
  getPasswordReset: [],
  getSharedDelivery: [],
  checkSettings: [],
  previewConditions: [],
  previewReplay: [],
};
