import { contract } from '@causeway/proto';
import { createTurns, handler, json } from '@causeway/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { Access } from '../context.ts';
import { pathOf } from './request-log.ts';

const maxRows = 5_000;

/** A day of very many requests takes seconds, so a company has one such statement at a time; the database ends what takes too long. */
const inTurn = createTurns();

export const listUsage = ({ db }: Access) =>
  handler(contract.listUsage, async ({ companyId, deadlineMs, query }) => {
    const { since, until, keyId, only } = query;
    const sumWhere = (condition: RawBuilder<unknown>) => sql<number>`SUM(IF(${condition}, requests, 0))`;
    const counted = db
      .selectFrom('request_log')
      .select(['key_id', 'operation', 'method'])
      .select([
        sql<number>`SUM(requests)`.as('all_requests'),
        sumWhere(sql`status = 429`).as('refused'),
        sumWhere(sql`status >= 500`).as('failed'),
        sql<Date | null>`MAX(IF(status = 429, created_utc, NULL))`.as('last_refused'),
      ])
      .where('company_id', '=', companyId)
      .$if(since !== undefined, (rows) => rows.where('created_utc', '>=', since!))
      .$if(until !== undefined, (rows) => rows.where('created_utc', '<', until!))
      .$if(keyId !== undefined, (rows) => rows.where('key_id', '=', keyId!))
      // The order of an index that has all these columns.
      .groupBy(['operation', 'key_id', 'method'])
      .$if(only !== undefined, (rows) => rows.having(sql.ref(only!), '>', 0))
      .orderBy('refused', 'desc')
      .orderBy('all_requests', 'desc')
      .limit(maxRows + 1);
    const found = await inTurn(companyId, deadlineMs, () => counted.execute());
    const rows = found.slice(0, maxRows);
    const ids = [...new Set(rows.map(({ key_id }) => key_id))];
    const keys =
      ids.length === 0
        ? []
        : await db
            .selectFrom('api_keys')
            .select(['id', 'name'])
            .where('company_id', '=', companyId)
            .where('id', 'in', ids)
            .execute();
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    return json(200, {
      rows: rows.map((row) => ({
        keyId: row.key_id,
        keyName: names.get(row.key_id) ?? `API key ${row.key_id}`,
        method: row.method,
        operation: row.operation,
        path: pathOf(row.operation, ''),
        requests: Number(row.all_requests),
        refused: Number(row.refused),
        failed: Number(row.failed),
        lastRefusedUtc: row.last_refused?.toISOString() ?? null,
      })),
      isCut: found.length > maxRows,
    });
  });
