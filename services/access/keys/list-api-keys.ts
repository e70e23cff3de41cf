import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { limitColumns } from '../limits/limits.ts';
import { keyColumns } from './key.ts';
import { portalKey } from './portal-key.ts';

export const listApiKeys = ({ db, cursors }: Access) =>
  handler(contract.listApiKeys, async ({ companyId, query }) => {
    const { limit, cursor, state } = query;
    const [before] = cursor === undefined ? [] : await cursors.open(companyId, 'keys', cursor);
    let found = db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (before !== undefined) found = found.where('id', '<', before);
    if (state) found = found.where('is_active', '=', state === 'active' ? 1 : 0);
    const rows = await found.execute();
    const keys = rows.slice(0, limit).map(portalKey);
    const hasMore = rows.length > limit;
    const last = keys.at(-1);
    return json(200, {
      keys,
      nextCursor: hasMore && last ? await cursors.seal(companyId, 'keys', last.id) : null,
      hasMore,
    });
  });
