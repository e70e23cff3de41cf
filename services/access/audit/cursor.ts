import { hash } from 'node:crypto';
import { invalidField } from '@causeway/proto';

/**
 * A place in a company's log: the last entry seen, bound to the company by a digest, so that one company's
 * cursor is nothing to another. Ids tell whoever may read the log nothing that the entries do not.
 */
export const encodeCursor = (companyId: number, auditId: number): string =>
  Buffer.from(`${auditId}.${bound(companyId, auditId)}`).toString('base64url');

/** @throws Problem `invalid_request`, "invalid cursor" */
export const decodeCursor = (companyId: number, cursor: string): number => {
  const [id = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  const auditId = /^[1-9]\d{0,15}$/.test(id) ? Number(id) : Number.NaN;
  // There is one way to write a cursor; base64 alone would take several.
  if (!Number.isSafeInteger(auditId) || cursor !== encodeCursor(companyId, auditId))
    throw invalidField('cursor', 'invalid cursor');
  return auditId;
};

const bound = (companyId: number, auditId: number): string =>
  hash('sha256', `audit ${companyId} ${auditId}`, 'base64url').slice(0, 12);
