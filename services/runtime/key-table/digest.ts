/**
 * The key table in 256 groups, each with a digest of the names and versions in it. Two copies with the same digest of a
 * group have the same entries in it, so only groups that differ need to be sent. Entries of refused keys do not count:
 * copies forget them at different times.
 */
export type Digests = Uint32Array;

export const digestGroups = 256;

export const groupOf = (name: string): number => hashText(name, firstSeed) % digestGroups;

export const digestTable = (entries: Iterable<readonly [name: string, entry: Digested]>): Digests => {
  const digests = new Uint32Array(2 * digestGroups);
  for (const [name, entry] of entries) toggleEntry(digests, name, entry);
  return digests;
};

/** Adds the entry to the digest of its group, or takes it away. */
export const toggleEntry = (digests: Digests, name: string, { version, active }: Digested): void => {
  if (active === false) return;
  const text = `${name} ${version}`;
  const at = 2 * groupOf(name);
  digests[at]! ^= hashText(text, firstSeed);
  digests[at + 1]! ^= hashText(text, secondSeed);
};

export const groupDiffers = (one: Digests, other: Digests, group: number): boolean =>
  one[2 * group] !== other[2 * group] || one[2 * group + 1] !== other[2 * group + 1];

export const encodeDigests = (digests: Digests): string =>
  Buffer.from(digests.buffer, digests.byteOffset, digests.byteLength).toString('base64');

/** Undefined if the text is not of digests. */
export const decodeDigests = (text: unknown): Digests | undefined => {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.byteLength !== 8 * digestGroups) return undefined;
  return new Uint32Array(new Uint8Array(bytes).buffer);
};

interface Digested {
  readonly version: number;
  readonly active?: boolean;
}

/** FNV-1a. */
const hashText = (text: string, seed: number): number => {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};

const firstSeed = 0x811c9dc5;
const secondSeed = 0x9747b28c;
