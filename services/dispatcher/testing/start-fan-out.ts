import { waitingDeliveriesQuota } from '@causeway/proto';
import { createLog, noMetrics } from '@causeway/runtime';
import { cleanUp, type TestDatabase } from '@causeway/runtime/testing';
import { startFanOut as start } from '../fan-out/start-fan-out.ts';
import { type Tables, tenantTables } from '../tables.ts';

/** The fan-out alone: it finds committed events in the outbox and writes their deliveries as waiting. */
export const startFanOut = (database: TestDatabase, waitingQuota = waitingDeliveriesQuota): void => {
  const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });
  const fanOut = start({
    db: database.connect<Tables>({ tenantTables }),
    log,
    metrics: noMetrics,
    now: () => new Date(),
    waitingQuota,
    onMissed: () => {},
    poller: { wake: () => {} },
    openEvents: new Set(),
    holder: { othersOpenUntil: () => undefined },
  });
  cleanUp(() => fanOut.stop());
};
