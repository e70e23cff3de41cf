import { type AnswerTo, maskKey, type Scope } from '@causeway/proto';
import { type LimitRow, limitsAnswer } from '../limits/limits.ts';
import type { KeyRow } from './key.ts';

/** A key as the portal shows it: without its value. */
export const portalKey = (row: KeyRow & LimitRow): AnswerTo<'listApiKeys'>['keys'][number] => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes.split(' ') as Scope[],
  masked: maskKey({ prefix: row.prefix, companyId: row.company_id, last4: row.last4 }),
  isActive: row.is_active === 1,
  createdUtc: row.created_utc.toISOString(),
  revokedUtc: row.revoked_utc?.toISOString() ?? null,
  lastUsedUtc: row.last_used_utc?.toISOString() ?? null,
  limits: limitsAnswer(row),
});
