import { randomUUID } from 'node:crypto';
import { deliveryHealthSubject, failuresUntilProbing } from '@causeway/proto';
import { type Bus, readNotice } from '@causeway/runtime';
import type { QueueKey } from '../job.ts';
import type { Health } from './write.ts';

/** Tells the other dispatchers when subscriptions begin or stop failing. */
export interface SharedHealth {
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
