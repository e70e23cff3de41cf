import { sql } from 'kysely';

/**
 * Whether a row is due whose next step lies at most `longestMs` ahead when it is written. A later one was written before the
 * database's clock went back, as at a failover to a server whose clock is behind, and is due too: otherwise it would wait for as long
 * again. Ranges of one index of the column.
 */
export const isDue = (column: string, at: Date, longestMs: number) => {
  const far = new Date(at.getTime() + longestMs + clockSlackMs);
  return sql<boolean>`(${sql.ref(column)} <= ${at} OR ${sql.ref(column)} > ${far})`;
};

/** Clocks of replicas differ by less. */
export const clockSlackMs = 60_000;
