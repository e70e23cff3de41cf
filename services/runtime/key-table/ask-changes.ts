import { setTimeout as sleep } from 'node:timers/promises';
import { type KeyChanges, type KeyChangesRequest, keyChangesSubject } from '@causeway/proto';
import type { Bus } from '../bus.ts';
import type { Log } from '../log.ts';
import { type Digests, encodeDigests } from './digest.ts';

const timeoutMs = 1000;
const pauseMs = 100;
/** A question or its answer is lost if the server dies that has it. An answer that comes late counts, too. */
const askAgainMs = 250;

/**
 * Asks `access` for everything in which its key table differs from a copy.
 * @param apply gets each part of the answer.
 * @throws if no replica of `access` answers, or none can compare its table with the database.
 */
export const askForChanges = async (
  { nc }: Bus,
  digests: Digests,
  apply: (part: KeyChanges) => void,
): Promise<void> => {
  const known = encodeDigests(digests);
  for (let from: number | null = 0; from !== null; ) {
    const request = { from, digests: known } satisfies KeyChangesRequest;
    const answer = await nc.request(keyChangesSubject, JSON.stringify(request), { timeout: timeoutMs });
    const part = answer.json<KeyChanges | null>();
    if (part === null) throw new Error('access cannot compare the key table with its database');
    apply(part);
    from = part.next;
  }
};

/** Asks again and again while the answer is wanted. */
export const askUntilTold = async (
  log: Log,
  isWanted: () => boolean,
  ask: () => Promise<void>,
): Promise<void> => {
  let failed = false;
  while (isWanted()) {
    const asked = ask().catch((error: unknown) => {
      if (!failed) log.info({ reason: String(error) }, 'key table catch-up failed; retrying');
      failed = true;
      return sleep(pauseMs);
    });
    await Promise.race([asked, sleep(askAgainMs)]);
  }
};
