import { fieldEnd, fieldsPerEntry } from './text.ts';

export const entriesPerChunk = 4096;

/** Three bytes of UTF-8 as one number, first byte highest. */
export type Gram = number;

export interface QueryGram {
  readonly gram: Gram;
  readonly offset: number;
}

export const gramsOfQuery = (query: Buffer): readonly QueryGram[] =>
  Array.from({ length: Math.max(0, query.length - 2) }, (_, offset) => ({
    gram: query.readUIntBE(offset, 3),
    offset,
  }));

export const gramBytes = (gram: Gram): Buffer => Buffer.from([gram >> 16, (gram >> 8) & 255, gram & 255]);

/** The first and the last gram that begin with the given one or two bytes. */
export const gramRange = (beginning: Buffer): readonly [Buffer, Buffer] => [
  Buffer.concat([beginning, Buffer.alloc(2, 0)]).subarray(0, 3),
  Buffer.concat([beginning, Buffer.alloc(2, 255)]).subarray(0, 3),
];

/**
 * Builds all postings of a chunk from its entries' texts (`entryText`, concatenated), in gram order. A gram begins at
 * every byte of a field; zero bytes pad the last two of a field, so that one or two bytes can be found as the
 * beginning of a gram.
 *
 * A gram's occurrences are in order. Each is the distance from the previous one's place (seven bits a byte, low bits
 * first, the high bit for "more") and one byte of position: the byte of the entry at which the gram begins, modulo
 * 256. The positions distinguish `jam` and `ple` in one entry from `jample`.
 */
export const buildPostings = (texts: Buffer): readonly (readonly [Buffer, Buffer])[] => {
  const postings = new Map<Gram, Writer>();
  let place = 0;
  let fieldsLeft = fieldsPerEntry;
  let entryStart = 0;
  for (let at = 0; at < texts.length; at++) {
    const first = texts[at]!;
    if (first === fieldEnd) {
      if (--fieldsLeft > 0) continue;
      fieldsLeft = fieldsPerEntry;
      entryStart = at + 1;
      place++;
      continue;
    }
    const second = texts[at + 1]!;
    const third = second === fieldEnd ? 0 : texts[at + 2]!;
    const gram = (first << 16) | ((second === fieldEnd ? 0 : second) << 8) | (third === fieldEnd ? 0 : third);
    let writer = postings.get(gram);
    if (!writer) {
      writer = { bytes: [], place: 0 };
      postings.set(gram, writer);
    }
    write(writer, place, (at - entryStart) & 255);
  }
  return [...postings]
    .sort(([one], [other]) => one - other)
    .map(([gram, { bytes }]) => [gramBytes(gram), Buffer.from(bytes)] as const);
};

interface Writer {
  readonly bytes: number[];
  place: number;
}

const write = (writer: Writer, place: number, position: number): void => {
  let distance = place - writer.place;
  writer.place = place;
  for (; distance > 127; distance >>= 7) writer.bytes.push((distance & 127) | 128);
  writer.bytes.push(distance, position);
};

export const placesOf = (occurrences: Buffer): readonly number[] => placesAmong(readMatches(occurrences, 0));

/** The occurrences that are not in these entries. */
export const withoutPlaces = (occurrences: Buffer, erased: ReadonlySet<number>): Buffer => {
  const matches = readMatches(occurrences, 0);
  const writer: Writer = { bytes: [], place: 0 };
  for (const match of matches) {
    const place = placeOf(match);
    if (!erased.has(place)) write(writer, place, match % positions);
  }
  return Buffer.from(writer.bytes);
};

interface GramOccurrences {
  readonly offset: number;
  readonly occurrences: Buffer;
}

/** Where a query may begin in a chunk: place * 256 + position, in order of place. */
export type Matches = Uint32Array;

/** @returns the matches, of those given or of all, where the grams occur at the distances that they have in the query. */
export const alignGrams = (grams: readonly GramOccurrences[], earlier?: Matches): Matches => {
  let matches = earlier;
  for (const gram of grams.toSorted((one, other) => one.occurrences.length - other.occurrences.length))
    matches = matches ? agreeing(matches, gram) : readMatches(gram.occurrences, gram.offset);
  return matches ?? new Uint32Array();
};

const positions = 256;
const placeOf = (match: number): number => match >>> 8;

const agreeing = (matches: Matches, { occurrences, offset }: GramOccurrences): Matches => {
  const agreed = new Uint8Array(matches.length);
  let from = 0;
  let next = placeOf(matches[0] ?? 0);
  eachMatch(occurrences, offset, (match) => {
    const place = placeOf(match);
    if (place < next) return;
    while (from < matches.length && placeOf(matches[from]!) < place) from++;
    for (let at = from; at < matches.length && placeOf(matches[at]!) === place; at++)
      if (matches[at] === match) agreed[at] = 1;
    next = from < matches.length ? placeOf(matches[from]!) : entriesPerChunk;
  });
  return matches.filter((_, at) => agreed[at] === 1);
};

const readMatches = (occurrences: Buffer, offset: number): Matches => {
  const matches = new Uint32Array(occurrences.length / 2);
  let count = 0;
  eachMatch(occurrences, offset, (match) => {
    matches[count++] = match;
  });
  return matches.subarray(0, count);
};

/**
 * Visits where a query with the gram at `offset` would begin. The occurrences of a common gram in all chunks are a million: an
 * array of them took half of the time.
 */
const eachMatch = (occurrences: Buffer, offset: number, visit: (match: number) => void): void => {
  let place = 0;
  for (let at = 0; at < occurrences.length; at++) {
    let byte = occurrences[at++]!;
    for (let shift = 0; ; shift += 7) {
      place += (byte & 127) << shift;
      if (byte < 128) break;
      byte = occurrences[at++]!;
    }
    visit(place * positions + ((occurrences[at]! - offset) & (positions - 1)));
  }
};

export const placesAmong = (matches: Matches): readonly number[] => {
  const places: number[] = [];
  for (const match of matches) {
    const place = placeOf(match);
    if (places[places.length - 1] !== place) places.push(place);
  }
  return places;
};

/**
 * Chooses the grams to look for. If at most `maxGrams` can cover every byte of the query (up to 11 bytes leave a
 * choice), it returns the cover with the fewest bytes to read; entries that have all of its grams at the right
 * distances contain the query. For a longer query, its rarest grams are selective enough.
 * @param weigh the bytes that a gram's occurrences take in a representative chunk.
 */
export const chooseGrams = (
  grams: readonly QueryGram[],
  weigh: (gram: QueryGram) => number,
): readonly QueryGram[] => {
  if (grams.length > 3 * (maxGrams - 1)) return rarest(grams, weigh);
  // The lightest cover that ends with each gram; the next gram begins at most three bytes later.
  const covers: Cover[] = [];
  for (const gram of grams) {
    const before = covers.slice(-3).sort((one, other) => one.weight - other.weight)[0];
    const weight = weigh(gram) + lookupBytes;
    covers.push({
      grams: gram.offset === 0 || !before ? [gram] : [...before.grams, gram],
      weight: gram.offset === 0 || !before ? weight : before.weight + weight,
    });
  }
  const cover = covers[covers.length - 1]?.grams ?? [];
  return cover.length <= maxGrams ? cover : rarest(grams, weigh);
};

/** Each gram costs one row per chunk. */
const maxGrams = 4;
/** What it costs to look up even a rare gram in a chunk, in bytes of occurrences. */
export const lookupBytes = 500;

interface Cover {
  readonly grams: readonly QueryGram[];
  readonly weight: number;
}

/** Distinct grams only: a repeated gram would narrow the search little. */
const rarest = (grams: readonly QueryGram[], weigh: (gram: QueryGram) => number): readonly QueryGram[] =>
  [...new Map(grams.map((one) => [one.gram, one])).values()]
    .sort((one, other) => weigh(one) - weigh(other))
    .slice(0, maxGrams);
