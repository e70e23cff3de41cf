import { fieldEnd, fieldsPerEntry } from './text.ts';

/** Entries of a full chunk. */
export const entriesPerChunk = 4096;

/** Three bytes of UTF-8 as one number, first byte highest. */
export type Gram = number;

/** A gram of a query, and at which byte of the query it begins. */
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

/** The first and the last gram that begin with one or two given bytes. */
export const gramRange = (beginning: Buffer): readonly [Buffer, Buffer] => [
  Buffer.concat([beginning, Buffer.alloc(2, 0)]).subarray(0, 3),
  Buffer.concat([beginning, Buffer.alloc(2, 255)]).subarray(0, 3),
];

/**
 * All postings of a chunk, from its entries' texts (`entryText`, one after the other), in gram order. A gram
 * begins at every byte of a field; a field's last two are filled up with zero bytes, so that one or two bytes
 * can be looked for too, as the beginning of a gram.
 *
 * A gram's occurrences are in order, each as the distance from the last one's place (seven bits a byte, low
 * ones first, the high bit for "more") and one byte of position: the byte of the entry at which the gram
 * begins, modulo 256. By the positions a search tells `jam` and `ple` in one entry from `jample`.
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
    let distance = place - writer.place;
    writer.place = place;
    for (; distance > 127; distance >>= 7) writer.bytes.push((distance & 127) | 128);
    writer.bytes.push(distance, (at - entryStart) & 255);
  }
  return [...postings]
    .sort(([one], [other]) => one - other)
    .map(([gram, { bytes }]) => [gramBytes(gram), Buffer.from(bytes)] as const);
};

interface Writer {
  readonly bytes: number[];
  /** Of the last occurrence. */
  place: number;
}

/** The places of a gram, in order. */
export const placesOf = (occurrences: Buffer): readonly number[] => {
  const places: number[] = [];
  eachOccurrence(occurrences, (place) => {
    if (places[places.length - 1] !== place) places.push(place);
  });
  return places;
};

/** The occurrences of a gram of the query in one chunk. */
export interface GramOccurrences {
  readonly offset: number;
  readonly occurrences: Buffer;
}

/** The places where all the grams occur as far apart as they are in the query, in order. */
export const alignedPlaces = (grams: readonly GramOccurrences[]): readonly number[] => {
  const [rarest, ...others] = [...grams].sort(
    (one, other) => one.occurrences.length - other.occurrences.length,
  );
  if (!rarest) return [];
  // How many grams have agreed so far on a match that begins at this place and position.
  const agreed = new Uint8Array(entriesPerChunk * 256);
  const matchAt = (place: number, position: number, offset: number) =>
    place * 256 + ((position - offset) & 255);
  eachOccurrence(rarest.occurrences, (place, position) => {
    agreed[matchAt(place, position, rarest.offset)] = 1;
  });
  for (const [at, { occurrences, offset }] of others.entries()) {
    eachOccurrence(occurrences, (place, position) => {
      const match = matchAt(place, position, offset);
      if (agreed[match] === at + 1) agreed[match] = at + 2;
    });
  }
  const places: number[] = [];
  eachOccurrence(rarest.occurrences, (place, position) => {
    if (agreed[matchAt(place, position, rarest.offset)] !== grams.length) return;
    if (places[places.length - 1] !== place) places.push(place);
  });
  return places;
};

const eachOccurrence = (occurrences: Buffer, visit: (place: number, position: number) => void): void => {
  let place = 0;
  let at = 0;
  while (at < occurrences.length) {
    let shift = 0;
    let byte = occurrences[at++]!;
    for (; byte > 127; byte = occurrences[at++]!, shift += 7) place += (byte & 127) << shift;
    place += byte << shift;
    visit(place, occurrences[at++]!);
  }
};
