import { randomUUID } from 'node:crypto';
import { deliveryHealthSubject, failuresUntilProbing } from '@causeway/proto';
import { type Bus, readNotice } from '@causeway/runtime';
import { type QueueKey, queueName } from './delivery.ts';

/** As far as this process knows. The exact count is in the row of the queue. */
export interface Health {
  failuresOf(key: QueueKey): number;
  set(key: QueueKey, failures: number): void;
  /** Never lowers the failures: results that are not recorded yet may count for more. */
  raise(key: QueueKey, failures: number): void;
  /** The subscription was enabled, or has another URL: nothing known about its receiver applies any more. */
  restart(key: QueueKey): void;
  onChange(listener: HealthListener): void;
}

type HealthListener = (key: QueueKey, failures: number, isReset: boolean) => void;

export const createHealth = (): Health => {
  const counts = new Map<string, number>();
  const listeners: HealthListener[] = [];
  const failuresOf = (key: QueueKey): number => counts.get(queueName(key)) ?? 0;
  const set = (key: QueueKey, failures: number): void => {
    if (failures === failuresOf(key)) return;
    if (failures === 0) counts.delete(queueName(key));
    else counts.set(queueName(key), failures);
    for (const listener of listeners) listener(key, failures, false);
  };
  return {
    failuresOf,
    set,
    raise: (key, failures) => {
      if (failures > failuresOf(key)) set(key, failures);
    },
    restart: (key) => {
      counts.delete(queueName(key));
      for (const listener of listeners) listener(key, 0, true);
    },
    onChange: (listener) => void listeners.push(listener),
  };
};

export interface HealthChange extends QueueKey {
  readonly before: number;
  readonly failures: number;
}

export interface SharedHealth {
  changed(changes: readonly HealthChange[]): void;
  restarted(key: QueueKey): void;
  stop(): void;
}

type Notice = readonly [
  companyId: number,
  subscriptionId: number,
  failures: number,
  sender: string,
  isReset?: boolean,
];

/**
 * A success must reset a subscription's failures, so every dispatcher must know of them. The message is best
 * effort: a dispatcher that missed it learns of the failures from its own attempts, or when it reads the
 * company again.
 */
export const shareHealth = (bus: Bus, health: Health): SharedHealth => {
  const instanceId = randomUUID();
  const subscription = bus.nc.subscribe(deliveryHealthSubject, {
    callback: (error, message) => {
      if (error) return;
      for (const [company_id, subscription_id, failures, sender, isReset] of readNotice<Notice>(message) ??
        [])
        if (sender !== instanceId && isReset) health.restart({ company_id, subscription_id });
        else if (sender !== instanceId) health.set({ company_id, subscription_id }, failures);
    },
  });
  const tell = (notices: readonly Notice[]): void => {
    if (notices.length > 0 && bus.connected()) bus.nc.publish(deliveryHealthSubject, JSON.stringify(notices));
  };
  return {
    changed: (changes) => {
      for (const change of changes) health.set(change, change.failures);
      tell(
        changes
          .filter(({ before, failures }) => stageOf(before) !== stageOf(failures))
          .map((one) => [one.company_id, one.subscription_id, one.failures, instanceId]),
      );
    },
    restarted: (key) => {
      health.restart(key);
      tell([[key.company_id, key.subscription_id, 0, instanceId, true]]);
    },
    stop: () => subscription.unsubscribe(),
  };
};

const stageOf = (failures: number): 'none' | 'some' | 'failing' =>
  failures === 0 ? 'none' : failures < failuresUntilProbing ? 'some' : 'failing';
