import type { Entry, LimitLog, LogState } from './log.ts';
import { encodeEntry, nameStore } from './log.ts';
import { type FencedLog, type LogWriter, majorityOf, openLogWriter } from './log-writer.ts';

/** Any majority of the logs knows every count that was answered. */
export interface Quorum {
  /** Null: nobody owns the counts; undefined: too few logs answer. */
  findOwner(done: (epoch: string | null | undefined) => void): void;
  /** README, "Take-over". `fenced`: another gateway was faster; undefined: too few logs answer. */
  claim(claim: Claim, done: (result: LogWriter | 'fenced' | undefined) => void): void;
}

export interface Claim {
  readonly epoch: string;
  /** Called before the first `encodeState`. */
  readonly merge: (entries: readonly Entry[]) => void;
  readonly encodeState: () => readonly string[];
  readonly snapshotEvery: () => number;
  /** Called once, if ownership ends without a release. */
  readonly onLost: () => void;
}

interface QuorumOptions {
  readonly logs: readonly LimitLog[];
  readonly newStore: () => string;
  readonly after?: (ms: number, then: () => void) => void;
  /** Called when so many logs have lost their store that counts are lost. */
  readonly onStoresLost?: (members: number) => void;
}

export const createQuorum = ({ logs, newStore, after = later, onStoresLost }: QuorumOptions): Quorum => {
  const majority = majorityOf(logs);

  /** `consider` is called after each answer, until it returns true. */
  const readStates = (consider: (states: States, waiting: number) => boolean): void => {
    const states: (LogState | undefined)[] = logs.map(() => undefined);
    let waiting = logs.length;
    let decided = false;
    for (const [at, log] of logs.entries())
      log.readState((state) => {
        states[at] = state;
        waiting--;
        if (!decided) decided = consider(states, waiting);
      });
  };

  const findOwner: Quorum['findOwner'] = (done) =>
    readStates((states, waiting) => {
      const members = states.filter((state) => state?.member).map((state) => state!.epoch);
      for (const epoch of members)
        if (members.filter((other) => other === epoch).length >= majority) {
          done(epoch);
          return true;
        }
      if (waiting > 0) return false;
      done(members.length >= majority || states.every(Boolean) ? null : undefined);
      return true;
    });

  const claim: Quorum['claim'] = (claiming, done) =>
    readStates((states, waiting) => {
      const members = [...states.entries()].filter(([, state]) => state?.member) as [number, LogState][];
      if (members.length >= majority) fence(members, claiming, done);
      else if (waiting > 0) return false;
      else if (states.every(Boolean))
        found(members.length, (ok) => (ok ? claim(claiming, done) : done(undefined)));
      else done(undefined);
      return true;
    });

  const fence = (members: readonly [number, LogState][], claiming: Claim, done: ClaimCallback): void => {
    const { epoch, merge } = claiming;
    const fenced: FencedLog[] = [];
    let waiting = members.length;
    let refused = false;
    for (const [at, state] of members) {
      const { store, sequence: expectedSequence } = state as NamedState;
      let sequence: number | undefined;
      let read: readonly Entry[] | undefined;
      let pending = 2;
      const settle = (): void => {
        if (--pending > 0 || fenced.length >= majority) return;
        if (sequence !== undefined && read) {
          merge(read);
          fenced.push({ at, store, sequence });
        }
        waiting--;
        if (fenced.length >= majority) open(fenced, claiming, done);
        else if (waiting === 0) done(refused ? 'fenced' : undefined);
      };
      const entry = encodeEntry({ epoch, number: 0 }, []);
      logs[at]!.append({ store, entry, expectedSequence, replaces: false }, (result) => {
        if (typeof result === 'number') sequence = result;
        else if (result === 'refused') refused = true;
        settle();
      });
      // What precedes the fence cannot change, so it can be read at the same time.
      logs[at]!.readEntries(state, (entries) => {
        read = entries;
        settle();
      });
    }
  };

  const open = (fenced: readonly FencedLog[], claiming: Claim, done: ClaimCallback): void => {
    let opened = false;
    const writer = openLogWriter({
      ...claiming,
      logs,
      fenced,
      after,
      newStore,
      onOpen: () => {
        opened = true;
        done(writer);
      },
      onLost: () => (opened ? claiming.onLost() : done('fenced')),
    });
    after(openWithinMs, () => {
      if (opened || writer.lost()) return;
      writer.stop();
      done(undefined);
    });
  };

  /**
   * Begins with logs of which too few are members: all are new, or have lost their store. Needs an answer of
   * every log, because a log that is away may have kept what the others lost. First every store gets a name.
   * Stores that still have their names when all logs are read again existed together, so those that are no
   * members have missed nothing that was answered. They become members unless something has been appended
   * since, so a store that is lost meanwhile does not.
   */
  const found = (members: number, done: (ok: boolean) => void): void => {
    if (members > 0) onStoresLost?.(members);
    const names: string[] = [];
    all((log, at, named) =>
      log.readState((state) => {
        names[at] = state?.store ?? newStore();
        if (!state || state.store !== undefined) named(state !== undefined);
        else nameStore(log, names[at], named);
      }),
    )((ok) => {
      if (!ok) return done(false);
      readStates((states, waiting) => {
        if (waiting > 0) return false;
        const missing = states.flatMap((state, at) => (state?.member ? [] : [at]));
        if (states.length - missing.length >= majority) done(true);
        else if (!states.every((state, at) => state?.store === names[at])) done(false);
        else
          all((log, at, added) =>
            missing.includes(at) ? addMember(log, states[at] as NamedState, added) : added(true),
          )(done);
        return true;
      });
    });
  };

  const all =
    (work: (log: LimitLog, at: number, done: (ok: boolean) => void) => void) =>
    (done: (ok: boolean) => void): void => {
      let waiting = logs.length;
      let ok = true;
      for (const [at, log] of logs.entries())
        work(log, at, (succeeded) => {
          ok &&= succeeded;
          if (--waiting === 0) done(ok);
        });
    };

  return { findOwner, claim };
};

/** Not if anything has been appended since the store was read. */
const addMember = (
  log: LimitLog,
  { store, sequence: expectedSequence }: NamedState,
  done: (added: boolean) => void,
): void => {
  const entry = encodeEntry({ epoch: null, number: 0 }, []);
  log.append({ store, entry, expectedSequence, replaces: false }, (result) =>
    done(typeof result === 'number'),
  );
};

type NamedState = LogState & { readonly store: string };
type States = readonly (LogState | undefined)[];
type ClaimCallback = (result: LogWriter | 'fenced' | undefined) => void;

const openWithinMs = 400;

const later = (ms: number, then: () => void): void => void setTimeout(then, ms).unref();
