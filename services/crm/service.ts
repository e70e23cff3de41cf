import type { Bus, Database, Log, Metrics, OperationHandlers } from '@causeway/runtime';
import { serveOperations } from '@causeway/runtime';
import type { CrmContext } from './context.ts';
import * as find from './find/index.ts';
import * as lookups from './lookups/index.ts';
import { startIndexer } from './search/indexer.ts';
import type { Tables } from './tables.ts';

export interface Crm {
  /** Takes nothing more, and resolves when everything taken is answered and the indexer rests. */
  drain(): Promise<void>;
}

export interface CrmOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly instance: string;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** Serves the lane `crm` as one of its replicas, and keeps the client search's index. */
export const createCrm = async ({ bus, db, instance, log, metrics }: CrmOptions): Promise<Crm> => {
  const lane = await serveOperations({
    lane: 'crm',
    handlers: handlersOf({ db }),
    bus,
    instance,
    log,
    ...(metrics && { metrics }),
  });
  const indexer = startIndexer({ db, log, metrics });
  return {
    drain: async () => {
      await lane.drain();
      await indexer.stop();
    },
  };
};

const handlersOf = (context: CrmContext): OperationHandlers => {
  const operations = Object.entries({ ...lookups, ...find });
  return Object.fromEntries(operations.map(([id, create]) => [id, create(context)]));
};
