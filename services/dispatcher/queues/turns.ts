import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Tables } from '../tables.ts';

/** Chooses which of the due queues come next. */
export interface Turns {
  /** @returns queues that have room, and whether more are due than were read. */
  next(
    db: Kysely<Tables>,
    now: Date,
  ): Promise<{ readonly queues: readonly QueueKey[]; readonly more: boolean }>;
}

/**
 * Companies take turns, and so do the queues of a company, the longest due first. If more queues are due than one
 * look reads, the next looks skip the companies already read until all others have had a turn. So a company with a
 * thousand due queues delays another by one look, not by a thousand.
 */
export const createTurns = (scheduler: Pick<Scheduler, 'full' | 'share' | 'wanted'>): Turns => {
  const served = new Set<number>();
  return {
    next: async (db, now) => {
      const full = scheduler.full();
      const due = await readDue(db, now, { ...full, companies: [...full.companies, ...served] });
      // Their URLs are not known yet; the limit per host applies when they are taken.
      const found = inTurns(due).map((queue) => ({ ...queue, url: '' }));
      const counts = scheduler.share(found);
      const fit = found.filter((_, at) => counts[at]! > 0);
      for (const [at, queue] of found.entries()) if (counts[at] === 0) scheduler.wanted(queue);
      const queues = fit.slice(0, maxQueues);
      const left = due.length === maxRead || queues.length < fit.length;
      const more = left || served.size > 0;
      if (left) for (const { company_id } of queues) served.add(company_id);
      else served.clear();
      return { queues, more };
    },
  };
};

/** How many queues one look takes, and how many candidates it reads. */
const maxQueues = 64;
const maxRead = 256;

/** Reads without locks; the first replica to claim a queue has it. */
const readDue = async (
  db: Kysely<Tables>,
  now: Date,
  { companies, queues }: { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] },
): Promise<readonly QueueKey[]> => {
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (next_due)
    WHERE next_due_utc <= ${now}
      ${companies.length > 0 ? sql`AND company_id NOT IN (${sql.join(companies)})` : sql``}
      ${queues.length > 0 ? sql`AND (company_id, subscription_id) NOT IN (${sql.join(queues.map(tuple))})` : sql``}
    ORDER BY next_due_utc LIMIT ${sql.lit(maxRead)}`.execute(db);
  return rows;
};

const tuple = ({ company_id, subscription_id }: QueueKey) => sql`(${company_id}, ${subscription_id})`;

/**
 * Picks the first queue of each company, then the second of each, and so on. If a company has more than fit, it
 * starts at a random one, so that replicas that look at the same moment choose different queues.
 */
const inTurns = (due: readonly QueueKey[]): readonly QueueKey[] => {
  const companies = [...Map.groupBy(due, ({ company_id }) => company_id).values()];
  const mixed = due.length > maxQueues ? rotated(companies.map(rotated)) : companies;
  const longest = Math.max(0, ...mixed.map((queues) => queues.length));
  return Array.from({ length: longest }, (_, at) => mixed.flatMap((queues) => queues[at] ?? [])).flat();
};

const rotated = <Item>(items: readonly Item[]): readonly Item[] => {
  const from = Math.floor(Math.random() * items.length);
  return [...items.slice(from), ...items.slice(0, from)];
};
