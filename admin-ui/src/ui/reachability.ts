import { useSyncExternalStore } from 'react';

/** A response of any status is an answer. */
interface Reachability {
  readonly reachable: boolean;
  readonly lastAnswerMs: number;
}

let state: Reachability = { reachable: true, lastAnswerMs: Date.now() };
const listeners = new Set<() => void>();

const set = (next: Reachability): void => {
  const changed = next.reachable !== state.reachable;
  state = next;
  if (changed) for (const listener of listeners) listener();
};

/** @param date when the server answered, by its own clock. */
export const noteAnswer = (date: string | null = null): void => {
  set({ reachable: true, lastAnswerMs: Date.now() });
  const aheadMs = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(aheadMs)) serverAheadMs = Math.abs(aheadMs) > likelyDelayMs ? aheadMs : 0;
};

let serverAheadMs = 0;
/** An answer takes a while, and its time is of whole seconds. */
const likelyDelayMs = 30_000;

/** The clock of the person's computer may be wrong by hours. */
export const serverNow = (): number => Date.now() + serverAheadMs;
export const noteNoAnswer = (): void => set({ ...state, reachable: false });

export const useReachability = (): Reachability =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (state.reachable ? reachable : state),
  );

/** Equal while it is reachable, so that answers cause no renders. */
const reachable: Reachability = { reachable: true, lastAnswerMs: 0 };

export const serverAnswers = async (): Promise<boolean> => {
  try {
    await fetch('/portal/theme-init.js', { method: 'HEAD', cache: 'no-store' });
    noteAnswer();
    return true;
  } catch {
    noteNoAnswer();
    return false;
  }
};
