import { createCipheriv, createDecipheriv } from 'node:crypto';
import { invalidField } from '@causeway/proto';

/** Turns places in a company's lists into opaque texts and back, valid only for this list and company. */
export interface Cursors<List extends string> {
  /** @param positions one number for each position of the list, from 0 to 2^53 - 1. */
  seal(companyId: number, list: List, ...positions: readonly number[]): Promise<string>;
  /** How a page of a list ends. @param place of its last row; undefined: nothing follows */
  pageEnd(companyId: number, list: List, place: readonly number[] | undefined): Promise<PageEnd>;
  /** @returns no positions without a cursor. @throws Problem `invalid_request` unless it was made for this company and list. */
  open(companyId: number, list: List, cursor: string | undefined): Promise<readonly number[]>;
}

interface PageEnd {
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/**
 * Encrypts list, company and positions with AES-256-CBC; zeros after several positions prove the cursor
 * whole.
 * @param lists the number of positions of each list. Clients store cursors: a list must keep its place.
 * @param readKeys keys of 32 bytes. The first encrypts; all decrypt.
 */
export const createCursors = <List extends string>(
  lists: Readonly<Record<List, number>>,
  readKeys: () => Promise<readonly Buffer[]>,
): Cursors<List> => {
  const names = Object.keys(lists);
  const seal = (key: Buffer, companyId: number, list: List, positions: readonly number[]): string => {
    const bytes = Buffer.alloc(bytesFor(lists[list]));
    for (const [at, value] of [companyId, ...positions].entries())
      bytes.writeBigUInt64BE(BigInt(value), 8 * at);
    // No id reaches the first byte.
    bytes[0] = names.indexOf(list);
    return createCipheriv(algorithm, key, noNonce).setAutoPadding(false).update(bytes).toString('base64url');
  };
  const open = (key: Buffer, list: List, bytes: Buffer): readonly number[] => {
    const plain = createDecipheriv(algorithm, key, noNonce).setAutoPadding(false).update(bytes);
    const positions = Array.from({ length: lists[list] }, (_, at) => plain.readBigUInt64BE(8 * (at + 1)));
    return positions.map(Number);
  };
  return {
    seal: async (companyId, list, ...positions) => seal((await readKeys())[0]!, companyId, list, positions),
    pageEnd: async (companyId, list, place) => ({
      nextCursor: place ? seal((await readKeys())[0]!, companyId, list, place) : null,
      hasMore: place !== undefined,
    }),
    open: async (companyId, list, cursor) => {
      if (cursor === undefined) return [];
      const bytes = Buffer.from(cursor, 'base64url');
      for (const key of bytes.length === bytesFor(lists[list]) ? await readKeys() : []) {
        const positions = open(key, list, bytes);
        // Valid only if `seal` returns the same text for this list and company.
        if (positions.every(Number.isSafeInteger) && seal(key, companyId, list, positions) === cursor)
          return positions;
      }
      throw invalidField('cursor', 'invalid_characters', 'invalid cursor');
    },
  };
};

const algorithm = 'aes-256-cbc';
const blockBytes = 16;
/** A fixed nonce: cursors of the same list and place are equal. */
const noNonce = Buffer.alloc(blockBytes);

const bytesFor = (positions: number): number =>
  positions === 1 ? blockBytes : blockBytes * (Math.ceil((1 + positions) / 2) + 1);
