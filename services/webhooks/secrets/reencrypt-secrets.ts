import { contract, type ReencryptAnswer } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { reencryptBatch, reencryptKeys } from './reencrypt.ts';

/** Seals batches again for a limited time, and answers where the next call continues. */
export const reencryptSecrets = ({ db, keyRing, log }: WebhooksContext) =>
  handler(contract.reencryptSecrets, async ({ body: { after = 0 }, requestId }) => {
    const stopMs = performance.now() + callMs;
    let done: Omit<ReencryptAnswer, 'key'> = { checked: 0, resealed: 0, unopened: 0, next: after };
    const add = (counts: Omit<ReencryptAnswer, 'key' | 'next'>, next: number | null): void => {
      done = {
        checked: done.checked + counts.checked,
        resealed: done.resealed + counts.resealed,
        unopened: done.unopened + counts.unopened,
        next,
      };
    };
    if (after === 0) add(await reencryptKeys(db, keyRing), after);
    while (done.next !== null && performance.now() < stopMs) {
      const { next, ...counts } = await reencryptBatch(db, keyRing, done.next);
      add(counts, next);
    }
    const answer: ReencryptAnswer = { key: keyRing.sealsWith, ...done };
    log.info({ requestId, ...answer }, 'secrets sealed again');
    return json(200, answer);
  });

/** Less than the 20 seconds that the command line waits. */
const callMs = 5_000;
