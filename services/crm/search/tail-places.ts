import { fieldEnd, fieldsPerEntry } from './text.ts';

/** The places of the entries whose text contains the query, last first. */
export const tailPlaces = (texts: Buffer, query: Buffer): readonly number[] => {
  const places: number[] = [];
  let field = 0;
  let counted = 0;
  let at = texts.indexOf(query);
  while (at !== -1) {
    for (; counted < at; counted++) if (texts[counted] === fieldEnd) field++;
    places.push(Math.floor(field / fieldsPerEntry));
    const entryEnd = endOfEntry(texts, at, field);
    at = texts.indexOf(query, entryEnd);
  }
  return places.reverse();
};

/** The end of the entry that contains the byte `at`, which is in the `field`-th field of the blob. */
const endOfEntry = (texts: Buffer, at: number, field: number): number => {
  let end = at;
  for (let left = fieldsPerEntry - (field % fieldsPerEntry); left > 0; left--) {
    end = texts.indexOf(fieldEnd, end) + 1;
  }
  return end;
};
