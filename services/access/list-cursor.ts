import { hash } from 'node:crypto';
import { invalidField } from '@causeway/proto';

/** The lists that are read by pages. */
export type ListName = 'audit' | 'keys';

/**
 * A place in a list: the id of the last entry seen, bound to the list and the company by a digest. A cursor is valid
 * only for the list of the company that issued it.
 */
export const encodeCursor = (list: ListName, companyId: number, id: number): string =>
  Buffer.from(`${id}.${bound(list, companyId, id)}`).toString('base64url');

/** @throws Problem `invalid_request`, "invalid cursor" */
export const decodeCursor = (list: ListName, companyId: number, cursor: string): number => {
  const [text = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  // There is one way to write a cursor; base64 alone would take several.
  if (!Number.isSafeInteger(id) || cursor !== encodeCursor(list, companyId, id))
    throw invalidField('cursor', 'invalid cursor');
  return id;
};

const bound = (list: ListName, companyId: number, id: number): string =>
  hash('sha256', `${list} ${companyId} ${id}`, 'base64url').slice(0, 12);
