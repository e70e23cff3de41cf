import { setImmediate as nextTurn } from 'node:timers/promises';
import { problem } from '@causeway/proto';

/** Await what it returns between the steps of long work: whenever they have taken a few milliseconds, other work runs. */
export const createPauses = (): (() => Promise<void>) => {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < maxTurnMs) return;
    await nextTurn();
    sinceMs = performance.now();
  };
};

const maxTurnMs = 5;

/** Runs long work of one company at a time, so that each company has the same share of the process. */
export const createTurns = () => {
  const last = new Map<number, Promise<unknown>>();
  /** @param deadlineMs `performance.now()` after which nobody waits for the work. @throws Problem `timeout` */
  return async <Result>(
    companyId: number,
    deadlineMs: number,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const before = last.get(companyId);
    const turn = (async () => {
      await before?.catch(() => {});
      if (performance.now() > deadlineMs) throw problem('timeout');
      return work();
    })();
    last.set(companyId, turn);
    try {
      return await turn;
    } finally {
      if (last.get(companyId) === turn) last.delete(companyId);
    }
  };
};
