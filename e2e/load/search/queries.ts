import { type Kysely, sql } from 'kysely';
import type { Random } from '../../../services/crm/demo/random.ts';
import type { Tables } from '../../../services/crm/tables.ts';

/** Search texts, grouped by what makes them easy or hard. */
type QueryClasses = Readonly<Record<string, readonly string[]>>;

const perClass = 200;

/** Takes the texts from the company's own clients, so that they fit any data. */
export const createQueries = async (
  db: Kysely<Tables>,
  companyId: number,
  random: Random,
): Promise<QueryClasses> => {
  const people = await samplePeople(db, companyId);
  const names = people.map(({ first_name, last_name }) => `${first_name} ${last_name}`);
  const texts = people.flatMap(({ email }, at) => [names[at]!, email]);
  const many = (make: () => string | undefined): readonly string[] => {
    const made: string[] = [];
    for (let left = perClass * 20; left > 0 && made.length < perClass; left--) {
      const query = make()?.trim();
      // A query of one character is refused, and a query of digits searches by ID.
      if (query !== undefined && query.length >= 2 && !/^\d+$/.test(query)) made.push(query);
    }
    return made;
  };
  const piece = (text: string, length: number): string => {
    const from = random.integer(0, Math.max(0, text.length - length));
    return text.slice(from, from + length);
  };
  const letters = (length: number): string =>
    Array.from({ length }, () => String.fromCharCode(random.integer(97, 122))).join('');
  return {
    common: ['smith', 'mary', 'an', 'example', '.com', 'mail.example', 'son', 'e_', '@example', 'garcia'],
    'two characters': many(() => letters(2)),
    'three characters': many(() => letters(3)),
    'short piece': many(() => piece(random.pick(texts), random.integer(3, 5))),
    'long piece': many(() => piece(random.pick(texts), random.integer(6, 12))),
    'whole email': many(() => random.pick(people).email),
    'whole name': many(() => random.pick(names)),
    'across the space': many(() => {
      const name = random.pick(names);
      const space = name.indexOf(' ');
      return name.slice(Math.max(0, space - 2), space + 3);
    }),
    accented: many(() => random.pick(names.filter((name) => /[^ -~]/.test(name)))),
    'phone end': many(() => {
      const { phone } = random.pick(people);
      return phone?.slice(-random.integer(5, 12)).replace(/^\d+$/, '-$&');
    }),
    'external id': many(() => `EXT-${random.integer(1, 2_000_000)}`),
    nothing: many(() => `${letters(4)}0${letters(4)}`),
    // All trigrams of these are common, but their combination is very rare.
    spliced: many(() => splice(random.pick(texts).toLowerCase(), random.pick(texts).toLowerCase())),
    'spliced twice': many(() => {
      const once = splice(random.pick(texts).toLowerCase(), random.pick(texts).toLowerCase());
      return once && splice(once, random.pick(texts).toLowerCase());
    }),
  };
};

/** The start of one text and the end of another, joined at two characters that both have. */
const splice = (one: string, other: string): string | undefined => {
  for (let at = Math.floor(one.length / 2); at > 2; at--) {
    const meets = other.indexOf(one.slice(at - 2, at), 2);
    if (meets > 0) return one.slice(Math.max(0, at - 5), at) + other.slice(meets + 2, meets + 6);
  }
  return undefined;
};

const samplePeople = async (db: Kysely<Tables>, companyId: number) => {
  const { first, last } = await db
    .selectFrom('clients')
    .select((eb) => [eb.fn.min('client_id').as('first'), eb.fn.max('client_id').as('last')])
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow();
  const step = Math.max(1, Math.floor((last - first) / 2000));
  return db
    .selectFrom('clients')
    .select(['first_name', 'last_name', 'email', 'phone'])
    .where('company_id', '=', companyId)
    .where(sql<boolean>`client_id % ${step} < 2`)
    .limit(2000)
    .execute();
};
