import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Takes what has to be ended. */
export type OnEnd = (end: () => Promise<void>) => void;

/** What has to be ended together, the last first. */
export interface Ends {
  readonly onEnd: OnEnd;
  /** May be called more than once: whoever calls it waits for all of it. */
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

/** A new folder, removed at the end. */
export const makeHome = (onEnd: OnEnd): string => {
  const home = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  onEnd(async () => rmSync(home, { recursive: true, force: true }));
  return home;
};
