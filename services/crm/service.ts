import { randomBytes } from 'node:crypto';
import { followCallers } from '@causeway/identity';
import { createGate, createOnce, noMetrics, type ServiceOptions, serveOperations } from '@causeway/runtime';
import { chunksGate } from './actions/batches.ts';
import { createRunner } from './actions/runner.ts';
import { startCleanup, startEmptyingCrm } from './cleanup.ts';
import { startErasures } from './erasures.ts';
import { createEventLog } from './events/event-log.ts';
import { openPublisher } from './events/publisher.ts';
import { handlers } from './handlers.ts';
import { serveIngest } from './ingest.ts';
import { createLookupCache } from './lookup-cache.ts';
import { startCompaction } from './search/compaction.ts';
import { startIndexer } from './search/indexer.ts';
import { createRecordIds } from './store/ids.ts';
import type { Tables } from './tables.ts';

export interface Crm {
  /** Whether callers can be checked: the key table is loaded. */
  ready(): boolean;
  /** Stops accepting calls and resolves once everything accepted is answered and published. */
  drain(): Promise<void>;
}

interface CrmOptions extends ServiceOptions<Tables> {
  readonly writeGroupSize?: number;
  readonly random?: (bytes: number) => Uint8Array;
}

export const createCrm = async (options: CrmOptions): Promise<Crm> => {
  const { bus, db, log, metrics = noMetrics } = options;
  const { now = () => new Date(), random = randomBytes } = options;
  const callers = followCallers({ bus, log, metrics, now });
  const publisher = openPublisher({ bus, metrics });
  const ids = createRecordIds(db);
  const events = createEventLog({ ...publisher, ids: ids.events });
  const runner = createRunner({
    db,
    events,
    ids,
    now,
    metrics,
    maxGroupSize: options.writeGroupSize,
  });
  const ingest = serveIngest({ bus, runner, knowsCompany: callers.knowsCompany, log, now });
  const once = createOnce({ db, now });
  const lane = await serveOperations({
    service: 'crm',
    handlers,
    context: {
      ...{ db, runner, once, events, now, random, log },
      lookupCache: createLookupCache({ db, log }),
      batchGate: createGate(chunksGate),
    },
    guard: callers.guard,
    once,
    bus,
    well: () => db.isUp() && callers.ready(),
    log,
    metrics,
  });
  const indexer = startIndexer({ db, log, metrics });
  const compaction = startCompaction({ db, log });
  const cleanup = startCleanup({ db, log, metrics, now });
  const erasures = startErasures({ db, log, now });
  const emptying = startEmptyingCrm({ db, log, now });
  return {
    ready: callers.ready,
    drain: async () => {
      await Promise.all([lane.drain(), ingest.drain()]);
      callers.close();
      await publisher.drain();
      await indexer.stop();
      await compaction.stop();
      await cleanup.stop();
      await erasures.stop();
      await emptying.stop();
    },
  };
};
