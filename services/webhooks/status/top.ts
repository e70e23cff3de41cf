import { contract } from '@causeway/proto';
import { acrossTenants, handler, json } from '@causeway/runtime';
import { sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';

/** A minute that is under way counts only a part. */
const minutes = 5;

export const listDeliveriesByCompany = ({ db }: WebhooksContext) =>
  handler(contract.listDeliveriesByCompany, async () => {
    const all = acrossTenants(db, 'an operator asks which companies have much to deliver');
    const now = db.now();
    const since = new Date(now.getTime() - minutes * 60_000);
    const [{ rows: waiting }, { rows: attempted }, { rows: missed }] = await Promise.all([
      sql<{ company_id: number; waiting: number; oldest: Date | null }>`
        SELECT company_id, SUM(waiting) AS waiting, MIN(oldest) AS oldest
        FROM (
          SELECT q.company_id, (
            SELECT COUNT(*) FROM deliveries AS d FORCE INDEX (by_state)
            WHERE d.company_id = q.company_id AND d.subscription_id = q.subscription_id AND d.state = 'waiting'
          ) AS waiting, (
            SELECT MIN(d.due_utc) FROM deliveries AS d FORCE INDEX (by_state)
            WHERE d.company_id = q.company_id AND d.subscription_id = q.subscription_id AND d.state = 'waiting'
          ) AS oldest
          FROM delivery_queues AS q WHERE q.next_due_utc IS NOT NULL
        ) AS queues GROUP BY company_id`.execute(all),
      sql<{ company_id: number; attempts: number }>`
        SELECT company_id, SUM(succeeded + failed) AS attempts FROM delivery_minutes
        WHERE minute_utc > ${since} GROUP BY company_id`.execute(all),
      sql<{ company_id: number; missed: number }>`
        SELECT company_id, SUM(missed) AS missed FROM missed_events GROUP BY company_id`.execute(all),
    ]);
    const by = <Row extends { company_id: number }>(rows: readonly Row[]) =>
      new Map(rows.map((row) => [row.company_id, row]));
    const [waits, attempts, misses] = [by(waiting), by(attempted), by(missed)];
    const ids = new Set([...waits.keys(), ...attempts.keys(), ...misses.keys()]);
    return json(200, {
      companies: [...ids].map((company_id) => {
        const { waiting = 0, oldest = null } = waits.get(company_id) ?? {};
        const lateMs = oldest ? Math.max(0, now.getTime() - oldest.getTime()) : 0;
        return {
          company_id,
          waiting: Number(waiting),
          late_seconds: Math.round(lateMs / 1000),
          attempts_a_minute: Math.round(Number(attempts.get(company_id)?.attempts ?? 0) / minutes),
          missed: Number(misses.get(company_id)?.missed ?? 0),
        };
      }),
    });
  });
