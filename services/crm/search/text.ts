import { fold } from './fold.ts';

interface SearchText {
  readonly name: string;
  readonly email: string;
}

export const searchText = (client: {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
}): SearchText => ({
  name: fold(`${client.first_name} ${client.last_name}`),
  email: fold(client.email),
});

/** The exact test. The index only finds candidates; a client is shown only if this holds for its row. */
export const contains = ({ name, email }: SearchText, query: string): boolean =>
  name.includes(query) || email.includes(query);

/** An entry's text as a chunk holds it: each field ends with a line feed, which no normalised text has. */
export const entryText = ({ name, email }: SearchText): string =>
  `${name.slice(0, maxFieldCharacters)}\n${email.slice(0, maxFieldCharacters)}\n`;
export const fieldsPerEntry = 2;
export const fieldEnd = 10;

/**
 * The longest name has 201 characters and the longest address 254, but a compatibility form may expand to eighteen
 * characters. With this limit, the texts of a chunk and the occurrences of any gram fit in a MEDIUMBLOB.
 */
export const maxFieldCharacters = 320;

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

const endOfEntry = (texts: Buffer, at: number, field: number): number => {
  let end = at;
  for (let left = fieldsPerEntry - (field % fieldsPerEntry); left > 0; left--) {
    end = texts.indexOf(fieldEnd, end) + 1;
  }
  return end;
};
