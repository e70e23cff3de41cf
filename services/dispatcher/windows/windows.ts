import { failuresUntilProbing } from '@causeway/proto';
import { type Job, type QueueKey, queueName } from '../job.ts';

/** Decides when a taken delivery is attempted, so that no receiver costs another its turn. */
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
  /** How many attempts this subscription's window has room for. */
  roomFor(key: QueueKey): number;
  /** More is due in this queue than its window took: until `onRoom` says so it is not worth another look. */
  wanted(key: QueueKey): void;
  /** The queues that are wanted and have no room. */
  full(): readonly QueueKey[];
  inFlight(): number;
  waiting(): number;
  /** Gives back what waits, and resolves when nothing is in flight. */
  drain(): Promise<void>;
}

/**
 * Each subscription has a window: how many attempts may be in flight to it. It begins at a few, grows by one
 * with each success, and is back at the beginning after a failure. While its receiver has not answered for
 * a second it counts as at the beginning too, and nothing waits for it: one that hangs after a good time does not
 * fill its window first.
 *
 * What comes for a full window waits here, shortly and in a short line, as a burst to a fast receiver is over in
 * no time; beyond that it goes back to its row, where a backlog of any length costs nothing. Attempts taken from
 * queues have a share of the slots and no more, so that retries leave first attempts theirs.
 */
export const createWindows = (options: WindowsOptions): Windows => {
  const { slots, start, giveBack, onRoom, nowMs, maxWaitMs = 1_000 } = options;
  const queueShare = Math.max(1, Math.floor(slots / 2));
  const states = new Map<string, State>();
  /** Those with a line, the one whose turn is next at the front. */
  const lines = new Set<State>();
  const full = new Set<State>();
  let inFlight = 0;
  let queueInFlight = 0;
  let waiting = 0;
  let waitingBytes = 0;
  let draining = false;
  let timer: NodeJS.Timeout | undefined;
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
        wanted: false,
        line: [],
      };
      states.set(name, state);
    }
    return state;
  };
  const forgetIdle = (): void => {
    for (const [name, state] of states)
      if (state.inFlight === 0 && state.line.length === 0 && !state.wanted) states.delete(name);
  };

  const isSilent = (state: State): boolean =>
    state.inFlight > 0 && nowMs() - state.answeredMs > silentAfterMs;
  const sizeOf = (state: State): number => {
    if (state.failures >= failuresUntilProbing) return 1;
    return isSilent(state) ? Math.min(state.size, firstWindow) : state.size;
  };
  const roomOf = (state: State): number => sizeOf(state) - state.inFlight;
  const mayStart = (job: Job, state: State): boolean =>
    inFlight < slots && (job.lane === 'first' || queueInFlight < queueShare) && roomOf(state) > 0;

  const startNow = (job: Job, state: State): void => {
    if (state.inFlight === 0) state.answeredMs = nowMs();
    state.inFlight++;
    inFlight++;
    if (job.lane === 'queue') queueInFlight++;
    start(job);
  };

  const leave = (job: Job): State => {
    const state = stateOf(job);
    state.inFlight--;
    inFlight--;
    if (job.lane === 'queue') queueInFlight--;
    return state;
  };

  /** Fills what has become free, in turns: who goes to the end of the set comes up again. */
  const startWaiting = (state: State): void => {
    for (const next of lines) {
      if (inFlight >= slots) break;
      const [first] = next.line;
      if (!first || !mayStart(first.job, next)) continue;
      next.line.shift();
      forgetWaiting([first]);
      lines.delete(next);
      if (next.line.length > 0) lines.add(next);
      startNow(first.job, next);
    }
    if (state.wanted && !draining && roomOf(state) >= Math.ceil(sizeOf(state) / 2)) {
      state.wanted = false;
      full.delete(state);
      onRoom();
    }
    if (inFlight === 0) idle?.();
  };

  const forgetWaiting = (gone: readonly Waiting[]): readonly Job[] => {
    waiting -= gone.length;
    for (const { job } of gone) waitingBytes -= job.body.length;
    return gone.map(({ job }) => job);
  };
  const empty = (state: State): void => {
    lines.delete(state);
    const jobs = forgetWaiting(state.line.splice(0));
    if (jobs.length > 0) giveBack(jobs);
  };

  const giveBackLate = (): void => {
    timer = undefined;
    const late: Waiting[] = [];
    const before = nowMs() - maxWaitMs;
    for (const state of lines) {
      const keep = state.line.findIndex(({ sinceMs }) => sinceMs > before);
      late.push(...state.line.splice(0, keep === -1 ? state.line.length : keep));
      if (state.line.length === 0) lines.delete(state);
    }
    if (late.length > 0) giveBack(forgetWaiting(late));
    watch();
  };
  const watch = (): void => {
    if (lines.size > 0) timer ??= setTimeout(giveBackLate, Math.ceil(maxWaitMs / 4)).unref();
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
      const crowded = waiting >= maxWaiting || waitingBytes >= maxWaitingBytes;
      if (crowded || (closedTo(state) && !job.probe)) return giveBack([job]);
      state.line.push({ job, sinceMs: nowMs() });
      lines.add(state);
      waiting++;
      waitingBytes += job.body.length;
      watch();
    },
    ended: (job, succeeded) => {
      const state = leave(job);
      state.answeredMs = nowMs();
      state.size = succeeded ? Math.min(state.size + 1, maxWindow) : firstWindow;
      // Ahead of what will be recorded, so that no more are started meanwhile.
      if (!succeeded && job.replay_id === 0 && ++state.failures >= failuresUntilProbing) empty(state);
      startWaiting(state);
    },
    abandoned: (job) => startWaiting(leave(job)),
    setFailures: (key, failures) => {
      const state = stateOf(key);
      state.failures = failures;
      if (failures >= failuresUntilProbing) empty(state);
      else if (state.wanted) startWaiting(state);
    },
    failuresOf: (key) => states.get(queueName(key))?.failures ?? 0,
    free: () => ({
      slots: slots - inFlight,
      queueSlots: Math.min(slots - inFlight, queueShare - queueInFlight),
    }),
    roomFor: (key) => {
      const state = stateOf(key);
      return Math.max(0, roomOf(state) - state.line.length);
    },
    wanted: (key) => {
      const state = stateOf(key);
      state.wanted = true;
      full.add(state);
      startWaiting(state);
    },
    full: () => [...full].map(({ key }) => key),
    inFlight: () => inFlight,
    waiting: () => waiting,
    drain: async () => {
      draining = true;
      clearTimeout(timer);
      for (const state of [...lines]) empty(state);
      if (inFlight > 0) await new Promise<void>((resolve) => (idle = resolve));
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

export interface WindowsOptions {
  /** Attempts in flight at a time. */
  readonly slots: number;
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
  wanted: boolean;
  readonly line: Waiting[];
}

interface Waiting {
  readonly job: Job;
  readonly sinceMs: number;
}
