interface SearchText {
  readonly name: string;
  readonly email: string;
}

/** No case, accents or compatibility forms; white space is one space: `Żółć  Ångström` → `zolc angstrom`. */
export const normalise = (text: string): string => {
  const plain = isAscii(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .toLowerCase()
        .replace(/\p{M}+/gu, '')
        .replace(/[ßæœøłđðþıς]/g, (letter) => undecomposed[letter] ?? letter)
        // Recomposes what is not a letter with an accent, such as the syllables of Korean.
        .normalize('NFC');
  return plain.replace(/[\s\p{Cc}]+/gu, ' ').trim();
};

export const searchText = (client: {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
}): SearchText => ({
  name: normalise(`${client.first_name} ${client.last_name}`),
  email: normalise(client.email),
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

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Letters that people type without their stroke or ligature and that Unicode does not decompose. */
const undecomposed: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};

/** The digits of a phone number in reverse, as the column `phone_reversed` stores them. */
export const reversedDigits = (phone: string): string => [...phone.replace(/[^0-9]/g, '')].reverse().join('');

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
