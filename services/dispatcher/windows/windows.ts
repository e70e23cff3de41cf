import { failuresUntilProbing } from '@causeway/proto';
import { type Job, type QueueKey, queueName, type Target } from '../job.ts';
import { createHosts } from './hosts.ts';
import { createShares } from './shares.ts';

/** Decides when a taken delivery is attempted, so that no receiver and no company costs another its turn. */
export interface Windows {
  /** Starts it now or soon; what cannot start within a second is given back. */
  offer(job: Job): void;
  /** Whether a first attempt would be given back at once: not worth reading. */
  isClosed(key: QueueKey): boolean;
  /** A receiver has answered (or its time was up). */
  ended(job: Job, succeeded: boolean): void;
  /** An attempt that was started was not made; it says nothing about the receiver. */
  abandoned(job: Job): void;
  /** How many failures in a row its queue is known to have. While it probes nothing waits for it here. */
  setFailures(key: QueueKey, failures: number): void;
  /** Above zero where failures in a row were seen: then a success has something to reset. */
  failuresOf(key: QueueKey): number;
  /** Attempts that may start, of all and of those taken from queues. */
  free(): { readonly slots: number; readonly queueSlots: number };
  /**
   * How many deliveries may be taken from each of these queues now, in their order. Companies get one after the
   * other, and within each its subscriptions, for as long as there is room.
   */
  share(targets: readonly Queued[]): readonly number[];
  /** More is due in this queue than could be taken: until `onRoom` says so it is not worth another look. */
  wanted(target: Queued): void;
  /** Companies that may take nothing more for now, and queues of others that are wanted and have no room. */
  full(): { readonly companies: readonly number[]; readonly queues: readonly QueueKey[] };
  inFlight(): number;
  waiting(): number;
  /** Gives back what waits, and resolves when nothing is in flight. */
  drain(): Promise<void>;
}

/** A queue, and where its deliveries go. */
export type Queued = QueueKey & Pick<Target, 'url'>;

/**
 * Companies share the slots, the part of them that is for attempts from queues, the places to wait here and those at
 * each host (see `Shares`). So what one company has, however many subscriptions it has it in, leaves others theirs.
 *
 * Within its company's share each subscription has a window: how many attempts may be in flight to it. It begins at
 * a few, grows by one with each success, and is back at the beginning after a failure. While its receiver has not
 * answered for a second it counts as at the beginning too, and nothing waits for it: one that hangs after a good time
 * does not fill its window first.
 *
 * What comes for a full window waits here, shortly and in a short line, as a burst to a fast receiver is over in
 * no time; beyond that it goes back to its row, where a backlog of any length costs nothing. Attempts taken from
 * queues have a share of the slots and no more, so that retries leave first attempts theirs.
 */
export const createWindows = (options: WindowsOptions): Windows => {
  const { start, giveBack, onRoom, nowMs, maxWaitMs = 1_000 } = options;
  const slots = createShares(options.slots);
  const queueSlots = createShares(Math.max(1, Math.floor(options.slots / 2)));
  const hosts = createHosts(options.maxPerHost ?? options.slots);
  const places = createShares(maxWaiting);
  const bytes = createShares(maxWaitingBytes);
  const states = new Map<string, State>();
  /** By company, the subscriptions that have a line; at the front whose turn is next. */
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
        size: firstWindow,
        inFlight: 0,
        failures: 0,
        answeredMs: nowMs(),
        url: '',
        line: [],
      };
      states.set(name, state);
    }
    return state;
  };
  const forgetIdle = (): void => {
    for (const [name, state] of states)
      if (state.inFlight === 0 && state.line.length === 0 && !full.has(state)) states.delete(name);
  };

  const isSilent = (state: State): boolean =>
    state.inFlight > 0 && nowMs() - state.answeredMs > silentAfterMs;
  const sizeOf = (state: State): number => {
    if (state.failures >= failuresUntilProbing) return 1;
    return isSilent(state) ? Math.min(state.size, firstWindow) : state.size;
  };
  const roomOf = (state: State): number => sizeOf(state) - state.inFlight;
  const sharesOf = (companyId: number, lane: Job['lane'], url: string): boolean =>
    slots.mayTake(companyId) &&
    (lane === 'first' || queueSlots.mayTake(companyId)) &&
    hosts.mayTake(companyId, url);
  const mayStart = (job: Job, state: State): boolean =>
    roomOf(state) > 0 && sharesOf(job.company_id, job.lane, job.target.url);

  const startNow = (job: Job, state: State): void => {
    if (state.inFlight === 0) state.answeredMs = nowMs();
    state.inFlight++;
    slots.take(job.company_id);
    if (job.lane === 'queue') queueSlots.take(job.company_id);
    hosts.take(job.company_id, job.target.url);
    start(job);
  };

  const leave = (job: Job): State => {
    const state = stateOf(job);
    state.inFlight--;
    slots.giveBack(job.company_id);
    if (job.lane === 'queue') queueSlots.giveBack(job.company_id);
    hosts.giveBack(job.company_id, job.target.url);
    return state;
  };

  const joinLine = (job: Job, state: State): void => {
    state.line.push({ job, sinceMs: nowMs() });
    const lines = turns.get(job.company_id);
    if (lines) lines.add(state);
    else turns.set(job.company_id, new Set([state]));
    places.take(job.company_id);
    bytes.take(job.company_id, job.body.length);
  };
  const leaveLine = (state: State, count: number): readonly Job[] => {
    const jobs = state.line.splice(0, count).map(({ job }) => job);
    for (const job of jobs) {
      places.giveBack(job.company_id);
      bytes.giveBack(job.company_id, job.body.length);
    }
    const lines = turns.get(state.key.company_id);
    if (state.line.length === 0 && lines?.delete(state) && lines.size === 0)
      turns.delete(state.key.company_id);
    return jobs;
  };

  /** Fills what has become free, in turns: who goes to the end comes up again. */
  const startWaiting = (): void => {
    for (const [companyId, lines] of turns) {
      if (slots.free() === 0) return;
      if (!slots.mayTake(companyId)) continue;
      const next = [...lines].find((state) => mayStart(state.line[0]!.job, state));
      if (!next) continue;
      const [job] = leaveLine(next, 1);
      if (lines.delete(next)) lines.add(next);
      if (turns.delete(companyId)) turns.set(companyId, lines);
      startNow(job!, next);
    }
  };

  const hasRoom = (state: State): boolean =>
    roomOf(state) >= Math.ceil(sizeOf(state) / 2) && sharesOf(state.key.company_id, 'queue', state.url);
  const tellRoom = (): void => {
    roomTimer = undefined;
    const before = full.size;
    for (const state of full) if (hasRoom(state)) full.delete(state);
    if (full.size < before) onRoom();
  };
  /** Also others than the one that ended may have room now, where it was their company or host that had none. */
  const after = (): void => {
    startWaiting();
    if (full.size > 0 && !draining) roomTimer ??= setTimeout(tellRoom, tellRoomEveryMs).unref();
    if (slots.taken() === 0) idle?.();
  };

  const empty = (state: State): void => {
    const jobs = leaveLine(state, state.line.length);
    if (jobs.length > 0) giveBack(jobs);
  };

  const giveBackLate = (): void => {
    lateTimer = undefined;
    const late: Job[] = [];
    const before = nowMs() - maxWaitMs;
    for (const state of [...turns.values()].flatMap((lines) => [...lines])) {
      const keep = state.line.findIndex(({ sinceMs }) => sinceMs > before);
      late.push(...leaveLine(state, keep === -1 ? state.line.length : keep));
    }
    if (late.length > 0) giveBack(late);
    watch();
  };
  const watch = (): void => {
    if (turns.size > 0) lateTimer ??= setTimeout(giveBackLate, Math.ceil(maxWaitMs / 4)).unref();
  };

  const closedTo = (state: State): boolean =>
    isSilent(state)
      ? roomOf(state) <= 0
      : state.failures >= failuresUntilProbing || state.line.length >= maxLine;

  return {
    isClosed: (key) => {
      const state = states.get(queueName(key));
      return state !== undefined && closedTo(state);
    },
    offer: (job) => {
      const state = stateOf(job);
      if (draining) return giveBack([job]);
      if (state.line.length === 0 && mayStart(job, state)) return startNow(job, state);
      const crowded = !places.mayTake(job.company_id) || !bytes.mayTake(job.company_id);
      if (crowded || (closedTo(state) && !job.probe)) return giveBack([job]);
      joinLine(job, state);
      watch();
    },
    ended: (job, succeeded) => {
      const state = leave(job);
      state.answeredMs = nowMs();
      state.size = succeeded ? Math.min(state.size + 1, maxWindow) : firstWindow;
      // Ahead of what will be recorded, so that no more are started meanwhile.
      if (!succeeded && job.replay_id === 0 && ++state.failures >= failuresUntilProbing) empty(state);
      after();
    },
    abandoned: (job) => {
      leave(job);
      after();
    },
    setFailures: (key, failures) => {
      const state = stateOf(key);
      state.failures = failures;
      if (failures >= failuresUntilProbing) empty(state);
      else if (full.has(state)) after();
    },
    failuresOf: (key) => states.get(queueName(key))?.failures ?? 0,
    free: () => ({ slots: slots.free(), queueSlots: Math.min(slots.free(), queueSlots.free()) }),
    share: (targets) => {
      const counts = targets.map(() => 0);
      const reserved: Queued[] = [];
      const reserveOne = (at: number): boolean => {
        const target = targets[at]!;
        const state = stateOf(target);
        const { company_id, url } = target;
        if (roomOf(state) - state.line.length <= counts[at]! || !sharesOf(company_id, 'queue', url))
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
          // Those before it have no room any more; it is the last to come up again.
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
      for (const lines of [...turns.values()]) for (const state of [...lines]) empty(state);
      if (slots.taken() > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const firstWindow = 4;
const maxWindow = 64;
const silentAfterMs = 1_000;
/** Bounds of what waits here, of one subscription and of all. */
const maxLine = 32;
const maxWaiting = 1_024;
const maxWaitingBytes = 2 ** 25;
const maxStates = 10_000;
/** All full queues are looked at each time, and what has ended since is made up for in one look for what is due. */
const tellRoomEveryMs = 25;

export interface WindowsOptions {
  /** Attempts in flight at a time. */
  readonly slots: number;
  /** Of these, to one host. Without it as many as there are slots. */
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
  size: number;
  inFlight: number;
  failures: number;
  /** When it last answered, or began to have something to answer. */
  answeredMs: number;
  /** Where its queue leads, as far as it was wanted. */
  url: string;
  readonly line: Waiting[];
}

interface Waiting {
  readonly job: Job;
  readonly sinceMs: number;
}
