import { failuresUntilProbing } from '@causeway/proto';
import { createInFlight } from '@causeway/runtime';
import type { Attempts } from '../attempt/attempts.ts';
import type { Context } from '../context.ts';
import {
  type AttemptedDelivery,
  type Delivery,
  isThrottled,
  type QueueKey,
  queueName,
  type SubscriptionTarget,
} from '../delivery.ts';
import type { Health } from '../health.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Recorder } from '../record/recorder.ts';
import { createSignal } from '../signal.ts';
import { createReceivers, type KnownReceiver } from './concurrency.ts';
import { createHosts, createShares } from './shares.ts';

/** No receiver and no company delays another. */
export interface Scheduler {
  offer(delivery: Delivery): void;
  free(): { readonly slots: number; readonly queueSlots: number };
  readonly onFree: (listener: () => void) => void;
  readonly queues: QueueRoom;
  counts(): { readonly inFlight: number; readonly waiting: number };
  /** Gives back everything that waits and resolves when nothing is in flight. */
  drain(): Promise<void>;
}

export interface QueueRoom {
  /** How many deliveries to take from each queue now. Companies take turns, and so do their subscriptions. */
  allot(targets: readonly QueueTarget[]): readonly number[];
  /** More is due in this queue than could be taken. It is not worth another look until `onRoom`. */
  markBacklogged(target: QueueTarget): void;
  /** Companies that may not take more now, and backlogged queues of other companies that have no room. */
  saturated(): { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] };
  /** Sent when a backlogged queue has room again. */
  readonly onRoom: (listener: () => void) => void;
}

type QueueTarget = QueueKey & Pick<SubscriptionTarget, 'url'>;

/**
 * Companies share the slots, the slots for attempts from queues, the waiting places and the limit per host
 * (see `Shares`). Each subscription has its own concurrency, the maximum number of attempts in flight
 * (`concurrency.ts`). While its receiver is silent, nothing waits for it. A few deliveries wait here briefly,
 * because a burst to a fast receiver is soon over. The rest are given back to their rows, where a backlog of
 * any length costs nothing.
 */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { attempts, recorder, health, metrics, nowMs, maxWaitMs = 1_000 } = options;
  const receivers = createReceivers(options);
  const slots = createShares(options.slots);
  const queueSlots = createShares(Math.max(1, Math.floor(options.slots / 2)));
  const hosts = createHosts(options.maxPerHost ?? options.slots);
  const places = createShares(maxWaiting);
  const bytes = createShares(maxWaitingBytes);
  const states = new Map<string, SubscriptionState>();
  const turns = new Map<number, Set<SubscriptionState>>();
  const backlogged = new Set<SubscriptionState>();
  const inFlight = createInFlight();
  const freed = createSignal();
  const room = createSignal();
  let draining = false;
  let turnDue = false;
  let lateTimer: NodeJS.Timeout | undefined;
  let roomTimer: NodeJS.Timeout | undefined;

  /** @param url empty if it is not known yet. What was learnt at another one, or long ago, does not apply to it. */
  const stateOf = (key: QueueKey, url: string): SubscriptionState => {
    const name = queueName(key);
    let state = states.get(name);
    if (!state) {
      if (states.size >= maxStates) forgetIdle();
      state = { key, receiver: receivers.unknown(url), failures: health.failuresOf(key), waiting: [] };
      states.set(name, state);
    }
    if (url !== '' && !receivers.isKnown(state.receiver, url)) begin(state, url);
    return state;
  };
  /** What waits for a former URL is given back. */
  const begin = (state: SubscriptionState, url: string): void => {
    if (state.receiver.url !== url) empty(state);
    state.receiver = receivers.unknown(url);
  };
  const forgetIdle = (): void => {
    for (const [name, state] of states)
      if (state.receiver.inFlight === 0 && state.waiting.length === 0 && !backlogged.has(state))
        states.delete(name);
  };

  const isSilent = ({ receiver }: SubscriptionState): boolean => receivers.isSilent(receiver);
  const isFailing = ({ failures }: SubscriptionState): boolean => failures >= failuresUntilProbing;
  const concurrencyOf = (state: SubscriptionState): number =>
    isFailing(state) || isSilent(state) ? 1 : Math.floor(state.receiver.concurrency);
  const roomOf = (state: SubscriptionState): number => concurrencyOf(state) - state.receiver.inFlight;
  const sharesOf = (companyId: number, source: Delivery['source'], url: string): boolean =>
    slots.mayTake(companyId) &&
    (source === 'first' || queueSlots.mayTake(companyId)) &&
    hosts.mayTake(companyId, url);
  const mayStart = (delivery: Delivery, state: SubscriptionState): boolean =>
    roomOf(state) > 0 && sharesOf(delivery.company_id, delivery.source, delivery.target.url);

  const start = (delivery: Delivery, state: SubscriptionState): void => {
    const { company_id: companyId, source } = delivery;
    const { url } = delivery.target;
    const { receiver } = state;
    const beganAlone = receivers.begin(receiver);
    inFlight.begin();
    slots.take(companyId);
    if (source === 'queue') queueSlots.take(companyId);
    hosts.take(companyId, url);
    void attempts.make(delivery).then((attempted) => {
      // Nothing is learnt if nothing was sent, or if the attempt went to a former URL.
      if (attempted && state.receiver === receiver) learn(attempted, receiver, beganAlone);
      receiver.inFlight--;
      slots.giveBack(companyId);
      if (source === 'queue') queueSlots.giveBack(companyId);
      hosts.giveBack(companyId, url);
      after();
      inFlight.end();
    });
  };
  const learn = (attempted: AttemptedDelivery, receiver: KnownReceiver, beganAlone: boolean): void => {
    const { decision, result, replay_id } = attempted;
    const succeeded = decision.outcome === 'succeeded';
    receivers.learn(receiver, { succeeded, elapsedMs: result.elapsedMs, beganAlone });
    // Counts the failure before it is recorded, so that no further attempts start meanwhile.
    if (!succeeded && replay_id === 0) health.raise(attempted, health.failuresOf(attempted) + 1);
  };

  const enqueue = (delivery: Delivery, state: SubscriptionState): void => {
    state.waiting.push({ delivery, sinceMs: nowMs() });
    const subscriptions = turns.get(delivery.company_id);
    if (subscriptions) subscriptions.add(state);
    else turns.set(delivery.company_id, new Set([state]));
    places.take(delivery.company_id);
    bytes.take(delivery.company_id, delivery.body.length);
    watch();
  };
  const takeWaiting = (state: SubscriptionState, count: number): readonly Delivery[] => {
    const taken = state.waiting.splice(0, count).map(({ delivery }) => delivery);
    for (const { company_id, body } of taken) {
      places.giveBack(company_id);
      bytes.giveBack(company_id, body.length);
    }
    const subscriptions = turns.get(state.key.company_id);
    if (state.waiting.length === 0 && subscriptions?.delete(state) && subscriptions.size === 0)
      turns.delete(state.key.company_id);
    return taken;
  };

  const firstReady = (subscriptions: ReadonlySet<SubscriptionState>): SubscriptionState | undefined => {
    for (const state of subscriptions) if (mayStart(state.waiting[0]!.delivery, state)) return state;
    return undefined;
  };
  /** Each company and subscription that starts deliveries moves to the end. */
  const startWaiting = (): void => {
    for (const [companyId, subscriptions] of turns) {
      if (slots.free() === 0) return;
      if (!slots.mayTake(companyId)) continue;
      const next = firstReady(subscriptions);
      if (!next) continue;
      const [delivery] = takeWaiting(next, 1);
      if (subscriptions.delete(next)) subscriptions.add(next);
      if (turns.delete(companyId)) turns.set(companyId, subscriptions);
      start(delivery!, next);
    }
  };

  const hasRoom = (state: SubscriptionState): boolean =>
    roomOf(state) >= Math.ceil(concurrencyOf(state) / 2) &&
    sharesOf(state.key.company_id, 'queue', state.receiver.url);
  const reportRoom = (): void => {
    roomTimer = undefined;
    const before = backlogged.size;
    for (const state of backlogged) if (hasRoom(state)) backlogged.delete(state);
    if (backlogged.size < before) room.send();
  };
  /**
   * Once for all attempts that ended in one turn of the event loop. Other subscriptions may have room too, if
   * their company or host was the limit.
   */
  const after = (): void => {
    if (!turnDue) setImmediate(takeTurn);
    turnDue = true;
  };
  const takeTurn = (): void => {
    turnDue = false;
    startWaiting();
    if (backlogged.size > 0 && !draining) roomTimer ??= setTimeout(reportRoom, reportRoomEveryMs).unref();
    freed.send();
  };

  const empty = (state: SubscriptionState): void => {
    const waiting = takeWaiting(state, state.waiting.length);
    if (waiting.length > 0) recorder.giveBack(waiting);
  };

  const giveBackLate = (): void => {
    lateTimer = undefined;
    const late: Delivery[] = [];
    const before = nowMs() - maxWaitMs;
    for (const state of [...turns.values()].flatMap((subscriptions) => [...subscriptions])) {
      const keep = state.waiting.findIndex(({ sinceMs }) => sinceMs > before);
      late.push(...takeWaiting(state, keep === -1 ? state.waiting.length : keep));
    }
    if (late.length > 0) recorder.giveBack(late);
    watch();
  };
  const watch = (): void => {
    if (turns.size > 0) lateTimer ??= setTimeout(giveBackLate, Math.ceil(maxWaitMs / 4)).unref();
  };

  const closedTo = (state: SubscriptionState): boolean =>
    isSilent(state)
      ? roomOf(state) <= 0
      : isFailing(state) || state.waiting.length >= maxWaitingPerSubscription;
  /** A first attempt must not overtake a backlog, and a pace grants no first attempts. */
  const isClosed = (delivery: Delivery, state: SubscriptionState): boolean =>
    delivery.source === 'first' && (isThrottled(delivery.target) || backlogged.has(state) || closedTo(state));

  health.onChange((key, failures, isReset) => {
    const state = states.get(queueName(key));
    if (!state) return;
    state.failures = failures;
    if (isReset) begin(state, '');
    if (isFailing(state)) empty(state);
    if (!isFailing(state) && backlogged.has(state)) after();
  });
  metrics.gauge(dispatcherMetrics.dispatcher_attempts_in_flight, inFlight.count);
  metrics.gauge(dispatcherMetrics.dispatcher_slots, () => options.slots);
  metrics.gauge(dispatcherMetrics.dispatcher_waiting, places.taken);

  const queues: QueueRoom = {
    onRoom: room.on,
    allot: (targets) => {
      const counts = targets.map(() => 0);
      const reserved: QueueTarget[] = [];
      const reserveOne = (at: number): boolean => {
        const target = targets[at]!;
        const { company_id, url } = target;
        const state = stateOf(target, url);
        if (roomOf(state) - state.waiting.length <= counts[at]! || !sharesOf(company_id, 'queue', url))
          return false;
        slots.take(company_id);
        queueSlots.take(company_id);
        hosts.take(company_id, url);
        reserved.push(target);
        counts[at]!++;
        return true;
      };
      let companies = [...Map.groupBy(targets.keys(), (at) => targets[at]!.company_id).values()];
      while (companies.length > 0) {
        companies = companies.filter((queues) => {
          const at = queues.findIndex(reserveOne);
          // The queues before it have no room left; it moves to the end.
          if (at >= 0) queues.push(...queues.splice(0, at + 1).slice(-1));
          return at >= 0;
        });
      }
      for (const { company_id, url } of reserved) {
        slots.giveBack(company_id);
        queueSlots.giveBack(company_id);
        hosts.giveBack(company_id, url);
      }
      return counts;
    },
    markBacklogged: (target) => {
      backlogged.add(stateOf(target, target.url));
      after();
    },
    saturated: () => {
      const companies = [...new Set([...slots.full(), ...queueSlots.full()])];
      const others = [...backlogged].filter(({ key }) => !companies.includes(key.company_id));
      return { companies, queues: others.map(({ key }) => key) };
    },
  };

  return {
    queues,
    onFree: freed.on,
    counts: () => ({ inFlight: inFlight.count(), waiting: places.taken() }),
    offer: (delivery) => {
      const state = stateOf(delivery, delivery.target.url);
      if (draining || isClosed(delivery, state)) return recorder.giveBack([delivery]);
      if (state.waiting.length === 0 && mayStart(delivery, state)) return start(delivery, state);
      const { company_id, probe } = delivery;
      const crowded = !places.mayTake(company_id) || !bytes.mayTake(company_id);
      if (crowded || (closedTo(state) && !probe)) recorder.giveBack([delivery]);
      else enqueue(delivery, state);
    },
    free: () =>
      attempts.mayBegin()
        ? { slots: slots.free(), queueSlots: Math.min(slots.free(), queueSlots.free()) }
        : { slots: 0, queueSlots: 0 },
    drain: async () => {
      draining = true;
      clearTimeout(lateTimer);
      clearTimeout(roomTimer);
      for (const subscriptions of [...turns.values()]) for (const state of [...subscriptions]) empty(state);
      await inFlight.idle();
    },
  };
};

const maxWaitingPerSubscription = 128;
const maxWaiting = 4_096;
const maxWaitingBytes = 2 ** 25;
const maxStates = 10_000;
/** Each run checks all backlogged queues, and one look at due queues makes up for all attempts that ended since. */
const reportRoomEveryMs = 25;

export interface SchedulerOptions extends Pick<Context, 'nowMs' | 'metrics'> {
  readonly timeoutMs: number;
  readonly slots: number;
  readonly maxPerHost?: number | undefined;
  readonly attempts: Attempts;
  readonly recorder: Pick<Recorder, 'giveBack'>;
  readonly health: Health;
  readonly maxWaitMs?: number;
}

interface SubscriptionState {
  readonly key: QueueKey;
  receiver: KnownReceiver;
  failures: number;
  readonly waiting: WaitingDelivery[];
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  readonly sinceMs: number;
}
