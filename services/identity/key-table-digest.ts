import { setTimeout as sleep } from 'node:timers/promises';
import {
  isRefusal,
  type KeyChanges,
  type KeyChangesRequest,
  type KeyEntry,
  keyChangesSubject,
} from '@causeway/proto';
import type { Bus, Log } from '@causeway/runtime';

const timeoutMs = 1000;
/** `access` may be a moment behind on its way to another NATS server. */
const pauseMs = 25;
/** A question or its answer is lost with the server that has it. A late answer counts, too. */
const askAgainMs = 250;

/**
 * Asks `access` for everything in which its key table differs from a copy.
 * @throws if no replica of `access` answers, or none can compare its table with the database.
 */
export const askForChanges = async (
  { nc }: Bus,
  digests: Digests,
  apply: (part: KeyChanges) => void,
): Promise<void> => {
  const encoded = encodeDigests(digests);
  for (let from: number | null = 0; from !== null; ) {
    const request = { from, digests: encoded } satisfies KeyChangesRequest;
    const answer = await nc.request(keyChangesSubject, JSON.stringify(request), { timeout: timeoutMs });
    const part = answer.json<KeyChanges | null>();
    if (part === null) throw new Error('access cannot compare the key table with its database');
    apply(part);
    from = part.next;
  }
};

export const askUntilTold = async (
  log: Log,
  isWanted: () => boolean,
  ask: () => Promise<void>,
): Promise<void> => {
  let failed = false;
  while (isWanted()) {
    const pending = ask().catch((error: unknown) => {
      if (!failed) log.info({ reason: String(error) }, 'key table catch-up failed; retrying');
      failed = true;
      return sleep(pauseMs);
    });
    await Promise.race([pending, sleep(askAgainMs)]);
  }
};

/**
 * Digests of the names and versions in 256 groups of the key table: only groups that differ need to be sent.
 * Entries of refused keys do not count, because copies forget them at different times. Measured with 100,000 keys: to send
 * the whole table takes 20 MB, 0.2 s of CPU time in `access` and 0.4 s in each gateway; names and versions 2 MB and 0.3 s.
 */
type Digests = Uint32Array;

export const digestGroups = 256;

export const groupOf = (name: string): number => hashText(name, firstSeed) % digestGroups;

export const digestTable = (entries: Iterable<readonly [name: string, entry: Digested]>): Digests => {
  const digests = new Uint32Array(2 * digestGroups);
  for (const [name, entry] of entries) toggleEntry(digests, name, entry);
  return digests;
};

export const toggleEntry = (digests: Digests, name: string, entry: Digested): void => {
  if (isRefusal(entry)) return;
  const text = `${name} ${entry.version}`;
  const at = 2 * groupOf(name);
  digests[at]! ^= hashText(text, firstSeed);
  digests[at + 1]! ^= hashText(text, secondSeed);
};

export const groupDiffers = (one: Digests, other: Digests, group: number): boolean =>
  one[2 * group] !== other[2 * group] || one[2 * group + 1] !== other[2 * group + 1];

const encodeDigests = (digests: Digests): string =>
  Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength).toString('base64');

export const decodeDigests = (text: unknown): Digests | undefined => {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.byteLength !== 8 * digestGroups) return undefined;
  return new Uint32Array(new Uint8Array(bytes).buffer);
};

type Digested = { readonly version: number } & Pick<Partial<KeyEntry>, 'active' | 'replacedBy'>;

/** FNV-1a. */
const hashText = (text: string, seed: number): number => {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};

const firstSeed = 0x811c9dc5;
const secondSeed = 0x9747b28c;
