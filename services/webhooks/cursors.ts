import { createCipheriv, createDecipheriv } from 'node:crypto';
import { invalidField, openSecret, sealSecret } from '@causeway/proto';
import type { WebhooksContext } from './context.ts';

/** The lists that cursors lead through. A cursor of one is none of another. */
const lists = ['events asc', 'events desc'] as const;
export type CursorList = (typeof lists)[number];

/**
 * Turns places in a company's list into texts that tell nothing, neither how many there are nor how far it is
 * from one to another, and back.
 */
export interface Cursors {
  /** @param position a whole number from 0 to 2^53 - 1. */
  seal(companyId: number, list: CursorList, position: number): Promise<string>;
  /** @throws Problem `invalid_request` unless it was made for this company and list. */
  open(companyId: number, list: CursorList, cursor: string): Promise<number>;
}

/**
 * A cursor is one block of AES under a key of its own, which is in the database, as all replicas need the same.
 * It lies there sealed with the key ring; so a cursor works for good, whichever keys come and go there.
 */
export const openCursors = (context: CursorsContext): Cursors => {
  let known: Promise<Buffer> | undefined;
  const key = (): Promise<Buffer> => {
    known ??= loadKey(context).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
  return {
    seal: async (companyId, list, position) => sealCursor(await key(), companyId, list, position),
    open: async (companyId, list, cursor) => openCursor(await key(), companyId, list, cursor),
  };
};

/** @param key of 32 bytes. */
export const sealCursor = (key: Buffer, companyId: number, list: CursorList, position: number): string =>
  encrypt(key, blockOf(companyId, list, position));

/** @throws Problem `invalid_request` unless `sealCursor` made it, of the same but the position. */
export const openCursor = (key: Buffer, companyId: number, list: CursorList, cursor: string): number => {
  const position = decrypt(key, cursor)?.readBigUInt64BE(8);
  // What is not what `sealCursor` makes was made by somebody else, or for something else.
  if (position !== undefined && position <= maxPosition) {
    const again = sealCursor(key, companyId, list, Number(position));
    if (again === cursor) return Number(position);
  }
  throw invalidField('cursor', 'invalid cursor');
};

type CursorsContext = Pick<WebhooksContext, 'db' | 'keyRing' | 'random'>;

const maxPosition = BigInt(Number.MAX_SAFE_INTEGER);
const algorithm = 'aes-256-ecb';
const blockBytes = 16;

/** Neither id reaches its first byte, so one has room for the list. */
const blockOf = (companyId: number, list: CursorList, position: number): Buffer => {
  const block = Buffer.alloc(blockBytes);
  block.writeBigUInt64BE(BigInt(companyId));
  block.writeBigUInt64BE(BigInt(position), 8);
  block[0] = lists.indexOf(list);
  return block;
};

const encrypt = (key: Buffer, block: Buffer): string =>
  createCipheriv(algorithm, key, null).setAutoPadding(false).update(block).toString('base64url');

const decrypt = (key: Buffer, cursor: string): Buffer | undefined => {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== blockBytes) return undefined;
  return createDecipheriv(algorithm, key, null).setAutoPadding(false).update(bytes);
};

const keyName = 'cursors';
const keyBytes = 32;
/** No company has this number: what is sealed for it is the service's own. */
export const nobody = 0;

/** The key, made by whichever replica needs it first. */
const loadKey = async ({ db, keyRing, random }: CursorsContext): Promise<Buffer> => {
  const read = () =>
    db.selectFrom('sealed_keys').select('sealed').where('name', '=', keyName).executeTakeFirst();
  let row = await read();
  if (!row) {
    const made = Buffer.from(random(keyBytes)).toString('base64');
    await db
      .insertInto('sealed_keys')
      .values({ name: keyName, sealed: sealSecret(keyRing, nobody, made) })
      .ignore()
      .execute();
    row = await read();
  }
  if (!row) throw new Error('the key of the cursors could not be kept');
  return Buffer.from(openSecret(keyRing, nobody, row.sealed), 'base64');
};
