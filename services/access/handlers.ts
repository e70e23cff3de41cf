import type { HandlerTable } from '@causeway/runtime';
import { listAudit } from './audit.ts';
import { createCompany, listCompanies } from './companies.ts';
import type { Access } from './context.ts';
import { listEventTypes } from './event-types.ts';
import { createApiKey, createKey, listApiKeys, listKeys, revokeApiKey, revokeKey } from './keys/keys.ts';
import { setLimits } from './limits.ts';
import {
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
  updateProfile,
} from './sessions/index.ts';
import {
  acceptInvitation,
  changeRole,
  createPortalOwner,
  getInvitation,
  inviteMember,
  listMemberKeys,
  listTeam,
  offerPasswordReset,
  removeMember,
  resetPortalOwner,
  revokeInvitation,
} from './team/index.ts';
import { getFirstSteps, getUsage } from './usage/get-usage.ts';

/** The handler of each operation that this service answers. */
export const handlers: HandlerTable<'access', Access> = {
  createCompany,
  listCompanies,
  createApiKey,
  createKey,
  listApiKeys,
  listKeys,
  revokeApiKey,
  revokeKey,
  setLimits,
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
  updateProfile,
  acceptInvitation,
  changeRole,
  createPortalOwner,
  getInvitation,
  inviteMember,
  listMemberKeys,
  listTeam,
  offerPasswordReset,
  removeMember,
  resetPortalOwner,
  revokeInvitation,
  listAudit,
  listEventTypes,
  getFirstSteps,
  getUsage,
};
