import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Registers a cleanup. */
export type OnEnd = (end: () => Promise<void>) => void;

/** A set of cleanups that run together, in reverse order. */
export interface Ends {
  readonly onEnd: OnEnd;
  /** May be called more than once; each call resolves when all cleanups have run. */
  end(): Promise<void>;
}

export const makeEnds = (): Ends => {
  const ends: (() => Promise<void>)[] = [];
  let ending: Promise<void> | undefined;
  return {
    onEnd: (end) => ends.push(end),
    end: () => {
      ending ??= (async () => {
        for (let end = ends.pop(); end; end = ends.pop()) await end();
      })();
      return ending;
    },
  };
};

/** Creates a folder that is removed at the end. */
export const makeHome = (onEnd: OnEnd): string => {
  const home = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  onEnd(async () => rmSync(home, { recursive: true, force: true }));
  return home;
};
