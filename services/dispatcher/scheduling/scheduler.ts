import { failuresUntilProbing } from '@causeway/proto';
import { type Job, type QueueKey, queueName, type Target } from '../job.ts';
import { createHosts, createShares } from './shares.ts';

/** Decides when to attempt a taken delivery, so that no receiver and no company delays another. */
export interface Scheduler {
  /** Starts it now or soon, or gives it back if it cannot start within a second. */
  offer(job: Job): void;
  /** True if a first attempt would be given back at once, or must not overtake a backlog. */
  isClosed(key: QueueKey): boolean;
  /** Call it when an attempt has ended, by an answer or a failure. */
  ended(job: Job, succeeded: boolean): void;
  /** Call it when a started attempt sent nothing, which says nothing about the receiver. */
  abandoned(job: Job): void;
  /** Sets the consecutive failures of a queue. While it is failing, nothing waits for it here. */
  setFailures(key: QueueKey, failures: number): void;
  /** As `setFailures`, but never lowers them: results that are not recorded yet may count for more. */
  raiseFailures(key: QueueKey, failures: number): void;
  /** The known consecutive failures. Above zero, a success must reset them. */
  failuresOf(key: QueueKey): number;
  /** How many attempts may start, in total and from queues. */
  free(): { readonly slots: number; readonly queueSlots: number };
  /**
   * How many deliveries to take from each of these queues now, in their order. Companies take turns, and so do the
   * subscriptions of each, while there is room.
   */
  share(targets: readonly Queued[]): readonly number[];
  /** Notes that more is due in this queue than could be taken. It is not worth another look until `onRoom`. */
  wanted(target: Queued): void;
  /** Companies that may not take more now, and wanted queues of other companies that have no room. */
  full(): { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] };
  inFlight(): number;
  waiting(): number;
  /** Gives back everything that waits and resolves when nothing is in flight. */
  drain(): Promise<void>;
}

/** A queue and the URL of its subscription. */
export type Queued = QueueKey & Pick<Target, 'url'>;

/**
 * Companies share the slots, the slots for attempts from queues, the waiting places and the limit per host (see
 * `Shares`). So one company leaves room for others, regardless of how many subscriptions it has.
 *
 * Within its company's share each subscription has its own concurrency: the maximum number of attempts in flight. It
 * starts small, grows by one with each success, and shrinks back to the start after a failure. While its receiver has
 * not answered for a second, the start applies and nothing waits for it, so a receiver that hangs after many
 * successes does not use up a large concurrency first.
 *
 * A few deliveries for a busy subscription wait here briefly, because a burst to a fast receiver is soon over. The
 * rest are given back to their rows, where a backlog of any length costs nothing. Attempts from queues may use only
 * part of the slots, so that retries leave room for first attempts.
 */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { start, giveBack, onRoom, nowMs, maxWaitMs = 1_000 } = options;
  const slots = createShares(options.slots);
  const queueSlots = createShares(Math.max(1, Math.floor(options.slots / 2)));
  const hosts = createHosts(options.maxPerHost ?? options.slots);
  const places = createShares(maxWaiting);
  const bytes = createShares(maxWaitingBytes);
  const states = new Map<string, State>();
  /** By company, the subscriptions with waiting deliveries. The next turn is at the front. */
  const turns = new Map<number, Set<State>>();
  const full = new Set<State>();
  let draining = false;
  let lateTimer: NodeJS.Timeout | undefined;
  let roomTimer: NodeJS.Timeout | undefined;
  let idle: (() => void) | undefined;

  const stateOf = (key: QueueKey): State => {
    const name = queueName(key);
    let state = states.get(name);
    if (!state) {
      if (states.size >= maxStates) forgetIdle();
      state = {
        key,
        concurrency: firstConcurrency,
        inFlight: 0,
        failures: 0,
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
      if (state.inFlight === 0 && state.waiting.length === 0 && state.failures === 0 && !full.has(state))
        states.delete(name);
  };

  const isSilent = (state: State): boolean =>
    state.inFlight > 0 && nowMs() - state.answeredMs > silentAfterMs;
  const concurrencyOf = (state: State): number => {
    if (state.failures >= failuresUntilProbing) return 1;
    return isSilent(state) ? Math.min(state.concurrency, firstConcurrency) : state.concurrency;
  };
  const roomOf = (state: State): number => concurrencyOf(state) - state.inFlight;
  const sharesOf = (companyId: number, source: Job['source'], url: string): boolean =>
    slots.mayTake(companyId) &&
    (source === 'first' || queueSlots.mayTake(companyId)) &&
    hosts.mayTake(companyId, url);
  const mayStart = (job: Job, state: State): boolean =>
    roomOf(state) > 0 && sharesOf(job.company_id, job.source, job.target.url);

  const startNow = (job: Job, state: State): void => {
    if (state.inFlight === 0) state.answeredMs = nowMs();
    state.inFlight++;
    slots.take(job.company_id);
    if (job.source === 'queue') queueSlots.take(job.company_id);
    hosts.take(job.company_id, job.target.url);
    start(job);
  };

  const leave = (job: Job): State => {
    const state = stateOf(job);
    state.inFlight--;
    slots.giveBack(job.company_id);
    if (job.source === 'queue') queueSlots.giveBack(job.company_id);
    hosts.giveBack(job.company_id, job.target.url);
    return state;
  };

  const enqueue = (job: Job, state: State): void => {
    state.waiting.push({ job, sinceMs: nowMs() });
    const subscriptions = turns.get(job.company_id);
    if (subscriptions) subscriptions.add(state);
    else turns.set(job.company_id, new Set([state]));
    places.take(job.company_id);
    bytes.take(job.company_id, job.body.length);
  };
  const takeWaiting = (state: State, count: number): readonly Job[] => {
    const jobs = state.waiting.splice(0, count).map(({ job }) => job);
    for (const job of jobs) {
      places.giveBack(job.company_id);
      bytes.giveBack(job.company_id, job.body.length);
    }
    const subscriptions = turns.get(state.key.company_id);
    if (state.waiting.length === 0 && subscriptions?.delete(state) && subscriptions.size === 0)
      turns.delete(state.key.company_id);
    return jobs;
  };

  /** Starts waiting deliveries in the freed slots. Each company and subscription then moves to the end. */
  const startWaiting = (): void => {
    for (const [companyId, subscriptions] of turns) {
      if (slots.free() === 0) return;
      if (!slots.mayTake(companyId)) continue;
      const next = [...subscriptions].find((state) => mayStart(state.waiting[0]!.job, state));
      if (!next) continue;
      const [job] = takeWaiting(next, 1);
      if (subscriptions.delete(next)) subscriptions.add(next);
      if (turns.delete(companyId)) turns.set(companyId, subscriptions);
      startNow(job!, next);
    }
  };

  const hasRoom = (state: State): boolean =>
    roomOf(state) >= Math.ceil(concurrencyOf(state) / 2) &&
    sharesOf(state.key.company_id, 'queue', state.url);
  const reportRoom = (): void => {
    roomTimer = undefined;
    const before = full.size;
    for (const state of full) if (hasRoom(state)) full.delete(state);
    if (full.size < before) onRoom();
  };
  /** Other subscriptions may have room now too, if their company or host was the limit. */
  const after = (): void => {
    startWaiting();
    if (full.size > 0 && !draining) roomTimer ??= setTimeout(reportRoom, reportRoomEveryMs).unref();
    if (slots.taken() === 0) idle?.();
  };

  const empty = (state: State): void => {
    const jobs = takeWaiting(state, state.waiting.length);
    if (jobs.length > 0) giveBack(jobs);
  };

  const giveBackLate = (): void => {
    lateTimer = undefined;
    const late: Job[] = [];
    const before = nowMs() - maxWaitMs;
    for (const state of [...turns.values()].flatMap((subscriptions) => [...subscriptions])) {
      const keep = state.waiting.findIndex(({ sinceMs }) => sinceMs > before);
      late.push(...takeWaiting(state, keep === -1 ? state.waiting.length : keep));
    }
    if (late.length > 0) giveBack(late);
    watch();
  };
  const watch = (): void => {
    if (turns.size > 0) lateTimer ??= setTimeout(giveBackLate, Math.ceil(maxWaitMs / 4)).unref();
  };

  const failuresOf = (key: QueueKey): number => states.get(queueName(key))?.failures ?? 0;
  const setFailures = (key: QueueKey, failures: number): void => {
    if (failures === 0 && !states.has(queueName(key))) return;
    const state = stateOf(key);
    state.failures = failures;
    if (failures >= failuresUntilProbing) empty(state);
    else if (full.has(state)) after();
  };

  const closedTo = (state: State): boolean =>
    isSilent(state)
      ? roomOf(state) <= 0
      : state.failures >= failuresUntilProbing || state.waiting.length >= maxWaitingPerSubscription;

  return {
    isClosed: (key) => {
      const state = states.get(queueName(key));
      return state !== undefined && (full.has(state) || closedTo(state));
    },
    offer: (job) => {
      const state = stateOf(job);
      if (draining) return giveBack([job]);
      if (state.waiting.length === 0 && mayStart(job, state)) return startNow(job, state);
      const crowded = !places.mayTake(job.company_id) || !bytes.mayTake(job.company_id);
      if (crowded || (closedTo(state) && !job.probe)) return giveBack([job]);
      enqueue(job, state);
      watch();
    },
    ended: (job, succeeded) => {
      const state = leave(job);
      state.answeredMs = nowMs();
      state.concurrency = succeeded ? Math.min(state.concurrency + 1, maxConcurrency) : firstConcurrency;
      // Counts the failure before it is recorded, so that no further attempts start meanwhile.
      if (!succeeded && job.replay_id === 0 && ++state.failures >= failuresUntilProbing) empty(state);
      after();
    },
    abandoned: (job) => {
      leave(job);
      after();
    },
    setFailures,
    raiseFailures: (key, failures) => {
      if (failures > failuresOf(key)) setFailures(key, failures);
    },
    failuresOf,
    free: () => ({ slots: slots.free(), queueSlots: Math.min(slots.free(), queueSlots.free()) }),
    share: (targets) => {
      const counts = targets.map(() => 0);
      const reserved: Queued[] = [];
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
          // Those before it have no room left; it moves to the end.
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
    wanted: (target) => {
      const state = stateOf(target);
      state.url = target.url;
      full.add(state);
      after();
    },
    full: () => {
      const companies = [...new Set([...slots.full(), ...queueSlots.full()])];
      const others = [...full].filter(({ key }) => !companies.includes(key.company_id));
      return { companies, queues: others.map(({ key }) => key) };
    },
    inFlight: slots.taken,
    waiting: places.taken,
    drain: async () => {
      draining = true;
      clearTimeout(lateTimer);
      clearTimeout(roomTimer);
      for (const subscriptions of [...turns.values()]) for (const state of [...subscriptions]) empty(state);
      if (slots.taken() > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const firstConcurrency = 4;
const maxConcurrency = 64;
const silentAfterMs = 1_000;
/** Limits on waiting deliveries, for one subscription and for all. */
const maxWaitingPerSubscription = 32;
const maxWaiting = 1_024;
const maxWaitingBytes = 2 ** 25;
const maxStates = 10_000;
/** Each run checks all full queues, and one look at due queues makes up for all attempts that ended since. */
const reportRoomEveryMs = 25;

export interface SchedulerOptions {
  /** Attempts in flight at a time. */
  readonly slots: number;
  /** Attempts in flight to one host; the number of slots by default. */
  readonly maxPerHost?: number | undefined;
  readonly start: (job: Job) => void;
  /** Makes them due in their rows again. */
  readonly giveBack: (jobs: readonly Job[]) => void;
  readonly onRoom: () => void;
  readonly nowMs: () => number;
  readonly maxWaitMs?: number;
}

interface State {
  readonly key: QueueKey;
  concurrency: number;
  inFlight: number;
  failures: number;
  /** When it last answered, or when its first open attempt began. */
  answeredMs: number;
  /** The URL of its subscription, once it was wanted. */
  url: string;
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly job: Job;
  readonly sinceMs: number;
}
