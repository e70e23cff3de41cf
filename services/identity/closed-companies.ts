import { acrossTenants, type Database, eachAlone, type Log, type Repeated, repeat } from '@causeway/runtime';
import type { Kysely } from 'kysely';

/** From `access` to the services, which follow it. */
export interface ClosedCompanyRow {
  company_id: number;
  closed_utc: Date;
  opened_utc: Date | null;
  crm_emptied_utc: Date | null;
  webhooks_emptied_utc: Date | null;
}

interface ClosedTables {
  closed_companies: ClosedCompanyRow;
}

/** Until then an operator can open the company again. */
export const keptClosedMs = 30 * 86_400_000;
/** No service empties a company while another one's clock still lets an operator open it. */
const slackMs = 3_600_000;

/** Why a subscription is off, and the mark of those that are switched on again with the company. */
export const closedReason = 'the company is closed';

export const isClosed = async <DB extends ClosedTables>(
  db: Kysely<DB>,
  companyId: number,
): Promise<boolean> => {
  const row = await (db as unknown as Kysely<ClosedTables>)
    .selectFrom('closed_companies')
    .select('company_id')
    .where('company_id', '=', companyId)
    .where('opened_utc', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
};

/**
 * Empties a service's tables of the companies that were closed long ago. A pass can be made again at any time, so a killed process loses
 * nothing, and replicas may make it at once.
 */
export const startEmptying = <DB extends ClosedTables>(options: EmptyingOptions<DB>): Repeated =>
  repeat(
    async () => {
      await emptyCompanies(options);
      return 0;
    },
    { pauseMs, onError: (error) => options.log.error({ error }, 'emptying closed companies failed') },
  );

const pauseMs = 60_000;
const rowsAtOnce = 1000;

const emptyCompanies = async <DB extends ClosedTables>(options: EmptyingOptions<DB>): Promise<void> => {
  const { db, deleted, dropped, now, onEmpty } = options;
  const rows = await acrossTenants(db as unknown as Database<ClosedTables>, 'closed companies are looked for')
    .selectFrom('closed_companies')
    .selectAll()
    .where('closed_utc', '<', new Date(now().getTime() - keptClosedMs - slackMs))
    .where('opened_utc', 'is', null)
    .execute();
  await eachAlone(rows, async (row) => {
    // A trigger, or a pass that had begun before, may add a row to a table that was empty.
    while ((await deleteRows(db, deleted, row.company_id)) > 0);
    for (const table of dropped) if (await hasRow(db, table, row.company_id)) return;
    await onEmpty(row);
  });
};

const deleteRows = async <DB>(
  db: Database<DB>,
  tables: readonly string[],
  companyId: number,
): Promise<number> => {
  let sum = 0;
  for (const table of tables)
    for (let deleted = rowsAtOnce; deleted === rowsAtOnce; sum += deleted) {
      const { numDeletedRows } = await (db as unknown as Kysely<Record<string, CompanyRow>>)
        .deleteFrom(table)
        .where('company_id', '=', companyId)
        .limit(rowsAtOnce)
        .executeTakeFirst();
      deleted = Number(numDeletedRows);
    }
  return sum;
};

const hasRow = async <DB>(db: Database<DB>, table: string, companyId: number): Promise<boolean> => {
  const row = await (db as unknown as Kysely<Record<string, CompanyRow>>)
    .selectFrom(table)
    .select('company_id')
    .where('company_id', '=', companyId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

interface CompanyRow {
  readonly company_id: number;
}

interface EmptyingOptions<DB> {
  readonly db: Database<DB>;
  readonly log: Log;
  readonly now: () => Date;
  /** In the order of their foreign keys. */
  readonly deleted: readonly (keyof DB & string)[];
  /** Retention drops them by the day, and services may delete none of their rows. */
  readonly dropped: readonly (keyof DB & string)[];
  readonly onEmpty: (row: ClosedCompanyRow) => Promise<void>;
}
