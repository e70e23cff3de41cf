import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked } from './boot.ts';

/** Sends calls in several ticks, so that both replicas get some and groups overlap. */
export const spread = <Result>(count: number, call: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => sleep(Math.floor(at / 8)).then(() => call(at))));

/** How many answers have each status. */
export const countByStatus = (answers: readonly Asked[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, some]) => [
      status,
      some?.length,
    ]),
  );
