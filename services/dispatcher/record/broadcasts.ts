import { randomUUID } from 'node:crypto';
import {
  type DeliveryTailEntry,
  deliveryHealthSubject,
  deliveryTailSubject,
  failuresUntilProbing,
  maxTailEntries,
} from '@causeway/proto';
import { type Bus, readNotice } from '@causeway/runtime';
import type { Finished } from '../attempt/attempts.ts';
import type { QueueKey } from '../job.ts';
import type { Health } from './write.ts';

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

/** Tells the other dispatchers when subscriptions begin or stop failing. */
interface SharedHealth {
  tell(health: readonly Health[]): void;
  stop(): void;
}

type HealthChange = readonly [companyId: number, subscriptionId: number, failures: number, sender: string];

/**
 * A success must reset a subscription's failures, so every dispatcher must know which have some. The message is best
 * effort: the count itself is exact, in the row of the queue. A dispatcher that missed a message learns of the failures
 * from its own attempts, or when it reads the company anew.
 * @param onHealth called with what another dispatcher tells.
 */
export const shareHealth = (bus: Bus, onHealth: (key: QueueKey, failures: number) => void): SharedHealth => {
  const own = randomUUID();
  const subscription = bus.nc.subscribe(deliveryHealthSubject, {
    callback: (error, message) => {
      if (error) return;
      for (const [company_id, subscription_id, failures, sender] of readNotice<HealthChange>(message) ?? [])
        if (sender !== own) onHealth({ company_id, subscription_id }, failures);
    },
  });
  return {
    tell: (health) => {
      const changes = health
        .filter(({ before, failures }) => stageOf(before) !== stageOf(failures))
        .map(
          ({ company_id, subscription_id, failures }): HealthChange => [
            company_id,
            subscription_id,
            failures,
            own,
          ],
        );
      if (changes.length > 0 && bus.connected())
        bus.nc.publish(deliveryHealthSubject, JSON.stringify(changes));
    },
    stop: () => subscription.unsubscribe(),
  };
};

const stageOf = (failures: number): 'none' | 'some' | 'failing' =>
  failures === 0 ? 'none' : failures < failuresUntilProbing ? 'some' : 'failing';
