import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Access } from '../context.ts';
import { limitColumns } from '../limits/limits.ts';
import { keyColumns } from './key.ts';
import { portalKey } from './portal-key.ts';

export const listApiKeys = ({ db, cursors }: Access) =>
  handler(contract.listApiKeys, async ({ companyId, query }) => {
    const { limit, cursor, state, q = '', sort } = query;
    const byUse = sort !== 'newest';
    const list = byUse ? 'keys by use' : 'keys';
    const [first, second] = cursor === undefined ? [] : await cursors.open(companyId, list, cursor);
    const direction = sort === 'unused' ? 'asc' : 'desc';
    let found = db
      .selectFrom('api_keys')
      .select([...keyColumns, ...limitColumns])
      .where('company_id', '=', companyId);
    if (state) found = found.where('is_active', '=', state === 'active' ? 1 : 0);
    if (q !== '') {
      // The column is ASCII: MySQL would refuse to compare it with other characters.
      const lastFour = /[!-~]{4}$/.exec(q)?.[0] ?? '';
      found = found.where(sql<boolean>`(LOCATE(${q}, name) > 0 OR last4 = ${lastFour})`);
    }
    if (byUse) {
      found = found.orderBy(usedSeconds, direction);
      if (second !== undefined)
        found = found.where(
          sql<boolean>`(${usedSeconds}, id) ${sql.raw(direction === 'asc' ? '>' : '<')} (${first}, ${second})`,
        );
    } else if (first !== undefined) found = found.where('id', '<', first);
    const rows = await found
      .orderBy('id', direction)
      .limit(limit + 1)
      .execute();
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const place = last && (byUse ? [secondsOf(last.last_used_utc), last.id] : [last.id]);
    const hasMore = rows.length > limit;
    return json(200, {
      keys: page.map(portalKey),
      nextCursor: hasMore && place ? await cursors.seal(companyId, list, ...place) : null,
      hasMore,
    });
  });

/** When the key was last used; 0: never. */
const usedSeconds = sql<number>`COALESCE(TIMESTAMPDIFF(SECOND, '1970-01-01', last_used_utc), 0)`;
const secondsOf = (time: Date | null): number => Math.floor((time?.getTime() ?? 0) / 1000);
