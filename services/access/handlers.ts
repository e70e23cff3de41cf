import { contract, eventCatalog } from '@causeway/proto';
import { type HandlerTable, handler, json } from '@causeway/runtime';
import { listAudit } from './audit.ts';
import { createCompany, listCompanies, setTimeZone } from './companies.ts';
import type { Access } from './context.ts';
import { checkKeyNetworks, updateApiKey } from './keys/change-key.ts';
import {
  createApiKey,
  createKey,
  getMe,
  listApiKeys,
  listKeys,
  revokeApiKey,
  revokeKey,
} from './keys/keys.ts';
import { endKeyRotation, rotateApiKey } from './keys/rotate-key.ts';
import { setLimits } from './limits.ts';
import { getNoticeSettings, listNotices, readNotices, updateNoticeSettings } from './notices/notices.ts';
import { proveIdentity, startProof } from './sessions/assertions.ts';
import {
  addPasskey,
  listPasskeys,
  removePasskey,
  signInWithPasskey,
  startPasskey,
  startPasskeySignIn,
} from './sessions/passkeys.ts';
import { changePassword, getPasswordReset, resetPassword } from './sessions/password.ts';
import {
  confirmTotp,
  disableTotp,
  reencryptFactors,
  regenerateRecoveryCodes,
  startTotp,
} from './sessions/second-factor.ts';
import {
  getSession,
  listSessions,
  revokeOtherSessions,
  revokeSession,
  signOut,
  updateProfile,
} from './sessions/sessions.ts';
import { signIn } from './sessions/sign-in.ts';
import { switchCompany } from './sessions/switch-company.ts';
import { acceptInvitation, getInvitation, inviteMember, revokeInvitation } from './team/invitations.ts';
import { listMemberKeys } from './team/member-keys.ts';
import {
  changeRole,
  listTeam,
  offerPasswordReset,
  removeMember,
  requireSecondFactor,
  resetSecondFactor,
} from './team/members.ts';
import { createPortalOwner, resetPortalOwner } from './team/owners.ts';
import { getAgentCalls, getFirstSteps, getUsage } from './usage/get-usage.ts';
import { getKeyUse, listKeyRequests } from './usage/request-log.ts';

const listEventTypes = ({ now }: Access) =>
  handler(contract.listEventTypes, async () => json(200, { eventTypes: eventCatalog(now()) }));

export const handlers: HandlerTable<'access', Access> = {
  createCompany,
  listCompanies,
  createApiKey,
  createKey,
  getMe,
  listApiKeys,
  listKeys,
  revokeApiKey,
  revokeKey,
  checkKeyNetworks,
  updateApiKey,
  getKeyUse,
  listKeyRequests,
  rotateApiKey,
  endKeyRotation,
  setLimits,
  getNoticeSettings,
  listNotices,
  readNotices,
  updateNoticeSettings,
  changePassword,
  confirmTotp,
  disableTotp,
  getPasswordReset,
  getSession,
  listSessions,
  reencryptFactors,
  regenerateRecoveryCodes,
  resetPassword,
  revokeOtherSessions,
  revokeSession,
  signIn,
  signOut,
  startTotp,
  switchCompany,
  setTimeZone,
  updateProfile,
  addPasskey,
  listPasskeys,
  removePasskey,
  signInWithPasskey,
  startPasskey,
  startPasskeySignIn,
  startProof,
  proveIdentity,
  acceptInvitation,
  changeRole,
  requireSecondFactor,
  createPortalOwner,
  getInvitation,
  inviteMember,
  listMemberKeys,
  listTeam,
  offerPasswordReset,
  removeMember,
  resetPortalOwner,
  resetSecondFactor,
  revokeInvitation,
  listAudit,
  listEventTypes,
  getAgentCalls,
  getFirstSteps,
  getUsage,
};
