import { failuresUntilProbing } from '@causeway/proto';
import { createInFlight } from '@causeway/runtime';
import type { Attempts } from '../attempt/attempts.ts';
import type { Context } from '../context.ts';
import {
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
 * (see `Shares`). Each subscription has its own concurrency, the maximum number of attempts in flight: it
 * grows by one with each success, and shrinks back to the start after a failure. While its receiver has not
 * answered for a second, the start applies and nothing waits for it, so a receiver that hangs after many
 * successes does not use up a large concurrency first. A few deliveries wait here briefly, because a burst to
 * a fast receiver is soon over. The rest are given back to their rows, where a backlog of any length costs
 * nothing.
 */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { attempts, recorder, health, metrics, nowMs, maxWaitMs = 1_000 } = options;
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

  const stateOf = (key: QueueKey): SubscriptionState => {
    const name = queueName(key);
    let state = states.get(name);
    if (!state) {
      if (states.size >= maxStates) forgetIdle();
      state = {
        key,
        concurrency: firstConcurrency,
        inFlight: 0,
        failures: health.failuresOf(key),
        answeredMs: nowMs(),
        url: '',
        waiting: [],
      };
      states.set(name, state);
    }
    return state;
  };
  const forgetIdle = (): void => {
    for (const [name, state] of states)
      if (state.inFlight === 0 && state.waiting.length === 0 && !backlogged.has(state)) states.delete(name);
  };

  const isSilent = (state: SubscriptionState): boolean =>
    state.inFlight > 0 && nowMs() - state.answeredMs > silentAfterMs;
  const isFailing = ({ failures }: SubscriptionState): boolean => failures >= failuresUntilProbing;
  const concurrencyOf = (state: SubscriptionState): number => {
    if (isFailing(state)) return 1;
    return isSilent(state) ? Math.min(state.concurrency, firstConcurrency) : state.concurrency;
  };
  const roomOf = (state: SubscriptionState): number => concurrencyOf(state) - state.inFlight;
  const sharesOf = (companyId: number, source: Delivery['source'], url: string): boolean =>
    slots.mayTake(companyId) &&
    (source === 'first' || queueSlots.mayTake(companyId)) &&
    hosts.mayTake(companyId, url);
  const mayStart = (delivery: Delivery, state: SubscriptionState): boolean =>
    roomOf(state) > 0 && sharesOf(delivery.company_id, delivery.source, delivery.target.url);

  const start = (delivery: Delivery, state: SubscriptionState): void => {
    const { company_id: companyId, source } = delivery;
    const { url } = delivery.target;
    if (state.inFlight === 0) state.answeredMs = nowMs();
    state.inFlight++;
    inFlight.begin();
    slots.take(companyId);
    if (source === 'queue') queueSlots.take(companyId);
    hosts.take(companyId, url);
    void attempts.make(delivery).then((succeeded) => {
      state.inFlight--;
      slots.giveBack(companyId);
      if (source === 'queue') queueSlots.giveBack(companyId);
      hosts.giveBack(companyId, url);
      // An attempt that sent nothing says nothing about the receiver.
      if (succeeded !== undefined) learn(delivery, state, succeeded);
      after();
      inFlight.end();
    });
  };
  const learn = (delivery: Delivery, state: SubscriptionState, succeeded: boolean): void => {
    state.answeredMs = nowMs();
    state.concurrency = succeeded ? Math.min(state.concurrency + 1, maxConcurrency) : firstConcurrency;
    // Counts the failure before it is recorded, so that no further attempts start meanwhile.
    if (!succeeded && delivery.replay_id === 0) health.raise(delivery, health.failuresOf(delivery) + 1);
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
    sharesOf(state.key.company_id, 'queue', state.url);
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

  health.onChange((key, failures) => {
    const state = states.get(queueName(key));
    if (!state) return;
    state.failures = failures;
    if (isFailing(state)) empty(state);
    else if (backlogged.has(state)) after();
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
        const state = stateOf(target);
        const { company_id, url } = target;
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
      const state = stateOf(target);
      state.url = target.url;
      backlogged.add(state);
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
      const state = stateOf(delivery);
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

const firstConcurrency = 4;
const maxConcurrency = 64;
const silentAfterMs = 1_000;
const maxWaitingPerSubscription = 128;
const maxWaiting = 4_096;
const maxWaitingBytes = 2 ** 25;
const maxStates = 10_000;
/** Each run checks all backlogged queues, and one look at due queues makes up for all attempts that ended since. */
const reportRoomEveryMs = 25;

export interface SchedulerOptions extends Pick<Context, 'nowMs' | 'metrics'> {
  readonly slots: number;
  readonly maxPerHost?: number | undefined;
  readonly attempts: Attempts;
  readonly recorder: Pick<Recorder, 'giveBack'>;
  readonly health: Health;
  readonly maxWaitMs?: number;
}

interface SubscriptionState {
  readonly key: QueueKey;
  concurrency: number;
  inFlight: number;
  failures: number;
  /** When it last answered, or when its first open attempt began. */
  answeredMs: number;
  url: string;
  readonly waiting: WaitingDelivery[];
}

interface WaitingDelivery {
  readonly delivery: Delivery;
  readonly sinceMs: number;
}
