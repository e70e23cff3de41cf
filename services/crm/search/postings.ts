import { fieldEnd, fieldsPerEntry } from './text.ts';

/** Entries of a full chunk. Its places fit in 12 bits, and a set of them in a bitmap of 512 bytes. */
export const entriesPerChunk = 4096;
const bitmapBytes = entriesPerChunk / 8;

/** Three bytes of UTF-8 as one number, first byte highest. */
export type Gram = number;

/**
 * The grams that begin at each byte of the text. A field's last two are filled up with zero bytes, so that
 * also one or two bytes can be looked for, as the beginning of a gram.
 */
export const gramsOfQuery = (query: Buffer): readonly Gram[] => {
  const grams = new Set<Gram>();
  for (let at = 0; at + 2 < query.length; at++) {
    grams.add((query[at]! << 16) | (query[at + 1]! << 8) | query[at + 2]!);
  }
  return [...grams];
};

export const gramBytes = (gram: Gram): Buffer => Buffer.from([gram >> 16, (gram >> 8) & 255, gram & 255]);

/** The first and the last gram that begins with one or two given bytes. */
export const gramRange = (beginning: Buffer): readonly [Buffer, Buffer] => [
  Buffer.concat([beginning, Buffer.alloc(2, 0)]).subarray(0, 3),
  Buffer.concat([beginning, Buffer.alloc(2, 255)]).subarray(0, 3),
];

/** All postings of a chunk, from its entries' texts (`entryText`, one after the other), in gram order. */
export const buildPostings = (texts: Buffer): readonly (readonly [Buffer, Buffer])[] => {
  const placesOf = new Map<Gram, number[]>();
  let field = 0;
  for (let at = 0; at < texts.length; at++) {
    const first = texts[at]!;
    if (first === fieldEnd) {
      field++;
      continue;
    }
    const second = texts[at + 1]!;
    const third = second === fieldEnd ? 0 : texts[at + 2]!;
    const gram = (first << 16) | (second === fieldEnd ? 0 : (second << 8) | (third === fieldEnd ? 0 : third));
    const place = Math.floor(field / fieldsPerEntry);
    const places = placesOf.get(gram);
    if (!places) placesOf.set(gram, [place]);
    else if (places[places.length - 1] !== place) places.push(place);
  }
  return [...placesOf]
    .sort(([one], [other]) => one - other)
    .map(([gram, places]) => [gramBytes(gram), encodePlaces(places)] as const);
};

/** Few places are listed, two bytes each; from 256 on, a bitmap is no longer. The length tells them apart. */
export const encodePlaces = (places: readonly number[]): Buffer => {
  if (places.length < bitmapBytes / 2) {
    const list = Buffer.allocUnsafe(places.length * 2);
    for (const [at, place] of places.entries()) list.writeUInt16LE(place, at * 2);
    return list;
  }
  const bitmap = Buffer.alloc(bitmapBytes);
  for (const place of places) bitmap[place >> 3]! |= 1 << (place & 7);
  return bitmap;
};

/** How many places at most, without decoding: enough to tell a rare gram from a common one. */
export const weight = (encodedBytes: number): number =>
  encodedBytes === bitmapBytes ? entriesPerChunk : encodedBytes / 2;

export const decodePlaces = (encoded: Buffer): readonly number[] => {
  const places: number[] = [];
  if (encoded.length < bitmapBytes) {
    for (let at = 0; at < encoded.length; at += 2) places.push(encoded.readUInt16LE(at));
    return places;
  }
  for (let place = 0; place < entriesPerChunk; place++) if (isSet(encoded, place)) places.push(place);
  return places;
};

/** The places that every one of the sets holds, in order. */
export const intersectPlaces = (sets: readonly Buffer[]): readonly number[] => {
  const [smallest, ...others] = [...sets].sort((one, other) => one.length - other.length);
  if (!smallest) return [];
  let places = decodePlaces(smallest);
  for (const other of others) {
    if (other.length === bitmapBytes) {
      places = places.filter((place) => isSet(other, place));
    } else {
      const listed = new Set(decodePlaces(other));
      places = places.filter((place) => listed.has(place));
    }
  }
  return places;
};

const isSet = (bitmap: Buffer, place: number): boolean => ((bitmap[place >> 3]! >> (place & 7)) & 1) === 1;
