import { type DeliveryTailEntry, deliveryTailSubject, maxTailEntries } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import type { Finished } from './finished.ts';

/**
 * Broadcasts recorded attempts to the portal's live view, one small message per company. Delivery is best effort; the
 * attempts' rows are the truth.
 */
export const createTail =
  (bus: Bus): ((recorded: readonly Finished[]) => void) =>
  (recorded) => {
    if (!bus.connected()) return;
    for (const [companyId, finished] of Map.groupBy(recorded, ({ job }) => job.company_id))
      for (let at = 0; at < finished.length; at += maxTailEntries)
        bus.nc.publish(
          deliveryTailSubject(companyId),
          JSON.stringify(finished.slice(at, at + maxTailEntries).map(entryOf)),
        );
  };

const entryOf = ({ job, startedMs, result, decision }: Finished): DeliveryTailEntry => ({
  eventId: job.event_id,
  subscriptionId: job.subscription_id,
  replayId: job.replay_id,
  eventType: job.event_type,
  attempt: job.attempt,
  state: decision.outcome === 'retry' ? 'waiting' : decision.outcome,
  statusCode: result.statusCode,
  errorClass: result.errorClass,
  elapsedMs: result.elapsedMs,
  startedUtc: new Date(startedMs).toISOString(),
  nextAttemptUtc: decision.outcome === 'retry' ? new Date(decision.dueMs).toISOString() : null,
});
