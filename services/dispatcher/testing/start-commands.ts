import { type ReplayRow, waitingDeliveriesQuota } from '@causeway/proto';
import { type Bus, createLog, transaction } from '@causeway/runtime';
import { cleanUp, type TestDatabase } from '@causeway/runtime/testing';
import { nextPage } from '../commands/replay-page.ts';
import { serveCommands } from '../commands/serve-commands.ts';
import { correctHeld } from '../queues/held-count.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface StartedCommands {
  /** Runs one step of a replay and rolls it back, as if its process were killed before the commit. */
  interruptPage(companyId: number, replayId: number): Promise<void>;
  /** Counts the held deliveries of one subscription whose recount is due. */
  correctHeld(): Promise<number>;
}

/** The dispatcher's commands without its attempts: deliveries stay as the commands leave them. */
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
    onQueueDue: () => {},
    onReset: () => {},
  });
  cleanUp(() => commands.drain());
  return {
    correctHeld: () => correctHeld({ db, now }),
    interruptPage: async (companyId, replayId) => {
      const killed = new Error('killed');
      await transaction(db, async (trx) => {
        const replay: ReplayRow = await trx
          .selectFrom('replays')
          .selectAll()
          .where('company_id', '=', companyId)
          .where('replay_id', '=', replayId)
          .forUpdate()
          .executeTakeFirstOrThrow();
        await nextPage(trx, replay, { now: now(), waitingQuota });
        throw killed;
      }).catch((error: Error) => {
        if (error !== killed) throw error;
      });
    },
  };
};
