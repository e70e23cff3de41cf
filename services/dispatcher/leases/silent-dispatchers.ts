import type { KnownDispatcher } from './dispatchers.ts';

/** Counts for how many reads in a row each dispatcher has not beaten. */
export interface SilentDispatchers {
  /** @returns those that were silent for long enough to be given up. */
  read(found: readonly KnownDispatcher[]): readonly KnownDispatcher[];
  /** Call it when a read failed: while the database is away, nobody can beat. */
  reset(): void;
}

/**
 * Reads are at least `beatEveryMs` apart, so a dispatcher that is given up has not beaten for `silentReads` times as long.
 * Counting reads needs no clock that two machines share, and a reader that stood still judges by no more than it has read.
 */
export const countSilence = (): SilentDispatchers => {
  let silent = new Map<number, { readonly beats: number; readonly reads: number }>();
  return {
    read: (found) => {
      silent = new Map(
        found.map(({ dispatcher_id, beats }) => {
          const before = silent.get(dispatcher_id);
          return [dispatcher_id, { beats, reads: before?.beats === beats ? before.reads + 1 : 0 }];
        }),
      );
      return found.filter((one) => silent.get(one.dispatcher_id)!.reads >= silentReads);
    },
    reset: () => silent.clear(),
  };
};

export const beatEveryMs = 250;
/** At least 1.25 s in all: longer than `sureForMs`, after which a silent dispatcher starts nothing. */
export const silentReads = 5;
