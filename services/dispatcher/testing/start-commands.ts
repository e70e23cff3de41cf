import type { ReplayRow, SubscriptionChangeRow } from '@causeway/deliveries';
import { waitingDeliveriesQuota } from '@causeway/proto';
import { type Bus, createLog, noMetrics, type Trx, transaction } from '@causeway/runtime';
import { cleanUp, type TestDatabase } from '@causeway/runtime/testing';
import { applyChange } from '../commands/apply-change.ts';
import { nextPage } from '../commands/replay-page.ts';
import { serveCommands } from '../commands/serve-commands.ts';
import { selectChange } from '../queue-rows.ts';
import { correctHeld } from '../queues/recounts.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface StartedCommands {
  /** Rolls one step back, as if the process were killed before the commit. */
  interruptPage(companyId: number, replayId: number): Promise<void>;
  /** As `interruptPage`, with the change of a subscription, if there is one. */
  interruptChange(companyId: number, subscriptionId: number): Promise<void>;
  /** Only where a recount is due. */
  correctHeld(): Promise<number>;
}

/** Without attempts: deliveries stay as the commands leave them. */
export const startCommands = async (
  bus: Bus,
  database: TestDatabase,
  { waitingQuota = waitingDeliveriesQuota, now = () => new Date() } = {},
): Promise<StartedCommands> => {
  const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });
  const db = database.connect<Tables>({ tenantTables });
  const commands = await serveCommands({
    bus,
    db,
    log,
    now,
    waitingQuota,
    poller: { wake: () => {} },
    sharedHealth: { restarted: () => {} },
    metrics: noMetrics,
  });
  cleanUp(() => commands.stop());
  const interrupt = async (work: (trx: Trx<Tables>) => Promise<void>): Promise<void> => {
    const killed = new Error('killed');
    await transaction(db, async (trx) => {
      await work(trx);
      throw killed;
    }).catch((error: Error) => {
      if (error !== killed) throw error;
    });
  };
  return {
    correctHeld: () => correctHeld({ db, now }),
    interruptPage: (companyId, replayId) =>
      interrupt(async (trx) => {
        const replay: ReplayRow = await trx
          .selectFrom('replays')
          .selectAll()
          .where('company_id', '=', companyId)
          .where('replay_id', '=', replayId)
          .forUpdate()
          .executeTakeFirstOrThrow();
        await nextPage(trx, replay, { now: now(), waitingQuota });
      }),
    interruptChange: (company_id, subscription_id) =>
      interrupt(async (trx) => {
        const key = { company_id, subscription_id };
        const change: SubscriptionChangeRow | undefined = await selectChange(trx, key)
          .forUpdate()
          .executeTakeFirst();
        if (change) await applyChange(trx, change, now());
      }),
  };
};
