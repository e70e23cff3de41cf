import { contract } from '@causeway/proto';
import { json, portalHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { limitColumns } from '../limits/limits.ts';
import { decodeCursor, encodeCursor } from '../list-cursor.ts';
import { keyColumns } from './key.ts';
import { portalKey } from './portal-key.ts';

export const listApiKeys = ({ db }: Access) =>
  portalHandler(contract.listApiKeys, async ({ companyId, query }) => {
    const { limit, cursor, state } = query;
    let found = db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (cursor !== undefined) found = found.where('id', '<', decodeCursor('keys', companyId, cursor));
    if (state) found = found.where('is_active', '=', state === 'active' ? 1 : 0);
    const rows = await found.execute();
    const keys = rows.slice(0, limit).map(portalKey);
    const hasMore = rows.length > limit;
    const last = keys.at(-1);
    return json(200, {
      keys,
      nextCursor: hasMore && last ? encodeCursor('keys', companyId, last.id) : null,
      hasMore,
    });
  });
