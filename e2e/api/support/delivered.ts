import { until } from '@causeway/runtime/testing/until';

/** Runs SQL against the cluster's database. */
export type Sql = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Resolves when no event of these companies, or of any, is left to fan out and none of their deliveries waits. */
export const allDelivered = (
  sql: Sql,
  companies: readonly number[] | 'all',
  { timeoutMs = 120_000, everyMs = 250 } = {},
): Promise<boolean> => {
  const [where, values] = companies === 'all' ? ['TRUE', []] : ['company_id IN (?)', [companies, companies]];
  return until(
    'every delivery is done',
    async () => {
      const [row] = await sql<{ n: number }>(
        `SELECT (SELECT COUNT(*) FROM event_outbox WHERE ${where})
              + (SELECT COUNT(*) FROM deliveries WHERE ${where} AND state = 'waiting') AS n`,
        values,
      );
      return Number(row?.n) === 0;
    },
    { timeoutMs, everyMs },
  );
};
