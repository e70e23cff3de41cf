import type { CallIdentity } from '@causeway/runtime';
import type { Action, Submission } from './action.ts';

interface Called {
  readonly action: object;
  /** By `keysOf`. */
  readonly keys: readonly string[];
  readonly identity?: CallIdentity | undefined;
}

/** The keys that a call locks or takes. */
export const keysOf = <Body, Result>(
  action: Action<Body, Result>,
  submission: Submission<Body>,
): readonly string[] =>
  [action.locks(submission), action.takes?.(submission) ?? {}]
    .flatMap((keys) => Object.entries(keys))
    .flatMap(([key, value]) => (value ? [`${key}:${submission.companyId}:${value}`] : []));

/** Calls that have a key in common are in different steps, in order of arrival. */
export const stepsOf = <Call extends Called>(calls: readonly Call[]): readonly (readonly Call[])[] => {
  const lastWave = new Map<string, number>();
  const waves = Map.groupBy(calls, ({ keys }) => {
    const wave = Math.max(-1, ...keys.map((key) => lastWave.get(key) ?? -1)) + 1;
    for (const key of keys) lastWave.set(key, wave);
    return wave;
  });
  return [...waves.values()].flatMap((wave) => [...Map.groupBy(wave, ({ action }) => action).values()]);
};

interface KeysUnderWay {
  /** Until what it returns is called, the keys of these calls are under way. */
  begin(calls: readonly Called[]): () => void;
  /** Whether these calls may begin: beside one group at most, with which they have no key in common. */
  isFree(calls: readonly Called[]): boolean;
}

/**
 * Two groups side by side that change the same records wait for each other's locks, in either order: with 50 hot records and 256
 * connections, 0.6 % of the calls met a deadlock, and p99 was 7.5 times as long. More than two side by side wait five times as long
 * for each other's counters of events.
 */
export const createKeysUnderWay = (): KeysUnderWay => {
  const groups = new Set<ReadonlySet<string>>();
  return {
    begin: (calls) => {
      const keys = new Set(calls.flatMap(allKeysOf));
      groups.add(keys);
      return () => void groups.delete(keys);
    },
    isFree: (calls) => {
      if (groups.size > 1) return false;
      const keys = calls.flatMap(allKeysOf);
      return [...groups].every((group) => !keys.some((key) => group.has(key)));
    },
  };
};

/** Also the client's: a request whose key another transaction has claimed would be refused. */
const allKeysOf = ({ keys, identity }: Called): readonly string[] =>
  identity?.fingerprint ? [...keys, `key:${identity.companyId}:${identity.key.toString('latin1')}`] : keys;
