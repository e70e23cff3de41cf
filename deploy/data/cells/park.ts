import type { Connection } from 'mysql2/promise';
import { inTransaction, rowsOf } from './sql.ts';

/**
 * Deliveries and whatever else the services would act on when it falls due. Parked rows are due a hundred years later,
 * so that no dispatcher takes them; nothing else in them changes.
 */
const dueColumns = [
  ['replays', 'next_page_utc'],
  ['delivery_queues', 'next_due_utc'],
  ['delivery_queues', 'count_held_utc'],
  ['webhook_companies', 'recount_utc'],
] as const;

/** Tables whose rows make the services act: they move only when the company is closed. */
export const actedOn: ReadonlySet<string> = new Set([
  'client_search_pending',
  'companies',
  'deliveries',
  'event_outbox',
  'subscription_changes',
  ...dueColumns.map(([table]) => table),
]);

const soon = 'UTC_TIMESTAMP(3) + INTERVAL 50 YEAR';
const later = 'INTERVAL 100 YEAR';
const updateRows = 1000;

/** Parks everything of a company that nobody is working on. @returns what is still under way; empty when nothing is. */
export const park = async (from: Connection, companyId: number): Promise<readonly string[]> => {
  // A recount that is not planned is due at any time.
  await from.query(
    `UPDATE webhook_companies SET recount_utc = UTC_TIMESTAMP(3) WHERE company_id = ? AND recount_utc IS NULL`,
    [companyId],
  );
  for (const subscription of await queuesOf(from, companyId)) {
    for (let parked = updateRows; parked === updateRows; ) {
      await inTransaction(from, async () => {
        // Queues are locked before their deliveries, as the dispatchers do.
        await from.query(
          'SELECT 1 FROM delivery_queues WHERE company_id = ? AND subscription_id = ? FOR UPDATE',
          [companyId, subscription],
        );
        const [{ affectedRows }] = (await from.query(
          `UPDATE deliveries SET due_utc = due_utc + ${later}, leased_by = NULL
           WHERE company_id = ? AND subscription_id = ? AND state = 'waiting' AND due_utc < ${soon}
             AND (leased_by IS NULL OR due_utc <= UTC_TIMESTAMP(3))
           LIMIT ${updateRows}`,
          [companyId, subscription],
        )) as unknown as [{ affectedRows: number }];
        parked = affectedRows;
      });
    }
  }
  for (const [table, column] of dueColumns)
    await from.query(
      `UPDATE ${table} SET ${column} = ${column} + ${later} WHERE company_id = ? AND ${column} < ${soon}`,
      [companyId],
    );
  return underWay(from, companyId);
};

/** The opposite, in the caller's transaction. */
export const unpark = async (connection: Connection, companyId: number): Promise<void> => {
  for (const [table, column] of dueColumns)
    await connection.query(
      `UPDATE ${table} SET ${column} = ${column} - ${later} WHERE company_id = ? AND ${column} > ${soon}`,
      [companyId],
    );
  for (const subscription of await queuesOf(connection, companyId))
    await connection.query(
      `UPDATE deliveries SET due_utc = due_utc - ${later}
       WHERE company_id = ? AND subscription_id = ? AND state = 'waiting' AND due_utc > ${soon}`,
      [companyId, subscription],
    );
};

const queuesOf = async (connection: Connection, companyId: number) =>
  (
    await rowsOf(connection, 'SELECT subscription_id FROM delivery_queues WHERE company_id = ?', [companyId])
  ).map(({ subscription_id }) => subscription_id);

const underWay = async (from: Connection, companyId: number): Promise<readonly string[]> => {
  const counts: Readonly<Record<string, string>> = {
    'events in the outbox': 'SELECT COUNT(*) AS n FROM event_outbox WHERE company_id = ?',
    'changes of subscriptions': 'SELECT COUNT(*) AS n FROM subscription_changes WHERE company_id = ?',
    'deliveries being attempted': `SELECT COUNT(*) AS n FROM delivery_queues AS q
      STRAIGHT_JOIN deliveries AS d USING (company_id, subscription_id)
      WHERE q.company_id = ? AND d.state = 'waiting' AND d.due_utc < ${soon}`,
    'queues that are due': `SELECT COUNT(*) AS n FROM delivery_queues WHERE company_id = ? AND next_due_utc < ${soon}`,
  };
  const busy: string[] = [];
  for (const [what, statement] of Object.entries(counts)) {
    const [row] = await rowsOf(from, statement, [companyId]);
    if (Number(row?.n) > 0) busy.push(`${row?.n} ${what}`);
  }
  return busy;
};
