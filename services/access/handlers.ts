import { contract, eventCatalog } from '@causeway/proto';
import { type HandlerTable, handler, json } from '@causeway/runtime';
import * as audit from './audit.ts';
import * as closing from './closing.ts';
import * as companies from './companies.ts';
import type { Access } from './context.ts';
import { exportCompany } from './export.ts';
import * as changeKey from './keys/change-key.ts';
import * as keys from './keys/keys.ts';
import * as rotateKey from './keys/rotate-key.ts';
import * as limits from './limits.ts';
import * as notices from './notices/notices.ts';
import * as assertions from './sessions/assertions.ts';
import * as passkeys from './sessions/passkeys.ts';
import * as password from './sessions/password.ts';
import * as secondFactor from './sessions/second-factor.ts';
import * as sessions from './sessions/sessions.ts';
import * as signIn from './sessions/sign-in.ts';
import * as switchCompany from './sessions/switch-company.ts';
import * as invitations from './team/invitations.ts';
import * as memberKeys from './team/member-keys.ts';
import * as members from './team/members.ts';
import * as owners from './team/owners.ts';
import * as getUsage from './usage/get-usage.ts';
import * as listUsage from './usage/list-usage.ts';
import * as requestLog from './usage/request-log.ts';

const listEventTypes = ({ now }: Access) =>
  handler(contract.listEventTypes, async () => json(200, { eventTypes: eventCatalog(now()) }));

/** The handlers are exported under their operations' names, so a missing one is a type error. */
export const handlers: HandlerTable<'access', Access> = {
  listEventTypes,
  ...audit,
  ...companies,
  closeCompany: closing.closeCompany,
  openCompany: closing.openCompany,
  exportCompany,
  ...changeKey,
  ...keys,
  ...rotateKey,
  ...limits,
  ...notices,
  ...assertions,
  ...passkeys,
  ...password,
  ...secondFactor,
  ...sessions,
  ...signIn,
  ...switchCompany,
  ...invitations,
  ...memberKeys,
  ...members,
  ...owners,
  ...getUsage,
  ...listUsage,
  ...requestLog,
};
