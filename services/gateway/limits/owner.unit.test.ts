import { expect, test } from 'vitest';
import type { LogWriter } from './log-writer.ts';
import { claimOwnership, LogsSilentError } from './owner.ts';
import type { Quorum } from './quorum.ts';

/** Logs that make an owner, and then take an append and never answer. */
const silentQuorum: Quorum = {
  findOwner: (done) => done(null),
  claim: (_, done) => {
    const writer: LogWriter = { append: () => {}, release: () => {}, lost: () => false, stop: () => {} };
    queueMicrotask(() => done(writer));
  },
};

test('Requests beyond ten thousand fail at once while no log answers', async () => {
  const owner = await claimOwnership(silentQuorum, () => ({ close: async () => {} }));
  const count = () => owner.count(1, [7, 60, 1, 0], 500);
  const outcomes = { refused: 0, waiting: 0 };
  void count().catch(() => {});
  // The first is on its way to the logs.
  await new Promise(setImmediate);
  for (let n = 0; n < 10_100; n++) {
    const settled = await Promise.race([
      count().catch((error: unknown) => error),
      new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(undefined)))),
    ]);
    if (settled === undefined) outcomes.waiting++;
    else if (settled instanceof LogsSilentError) outcomes.refused++;
  }
  expect(outcomes).toEqual({ refused: 100, waiting: 10_000 });
});
