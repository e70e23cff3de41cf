import { fold } from '../search/fold.ts';
import type { Random } from './random.ts';

interface DemoPerson {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

/** A plausible person. `number` makes the email unique; domains and phone numbers are ones reserved for examples. */
export const inventPerson = (random: Random, number: number): DemoPerson => {
  const first_name = random.pickSkewed(firstNames);
  const last_name = random.pickSkewed(lastNames);
  const [city, state, zip] = random.pickSkewed(places);
  return { first_name, last_name, ...contactOf(random, first_name, last_name, number), city, state, zip };
};

export const contactOf = (random: Random, firstName: string, lastName: string, number: number) => {
  const [first, last] = [plain(firstName), plain(lastName)];
  const local = random.pick([
    `${first}.${last}`,
    `${first[0]}${last}`,
    `${first}_${last}`,
    `${last}.${first}`,
  ]);
  return {
    email: `${local}${number}@${random.pickSkewed(domains)}`,
    phone: `+1 (${random.integer(201, 989)}) 555-01${String(random.integer(0, 99)).padStart(2, '0')}`,
  };
};

const plain = (name: string): string => fold(name).replace(/[^a-z]/g, '');

const domains = ['example.com', 'mail.example', 'example.org', 'post.example', 'example.net', 'work.example'];

export const firstNames = [
  ...['Mary', 'James', 'Linda', 'Robert', 'Patricia', 'John', 'Jennifer', 'Michael', 'Elizabeth', 'David'],
  ...['Susan', 'William', 'Jessica', 'Richard', 'Sarah', 'Joseph', 'Karen', 'Thomas', 'Nancy', 'Christopher'],
  ...['Ana', 'Daniel', 'Sofía', 'Mateo', 'Valentina', 'José', 'Camila', 'Diego', 'Lucía', 'Andrés'],
  ...['Wei', 'Mei', 'Hiroshi', 'Yuki', 'Priya', 'Arjun', 'Fatima', 'Omar', 'Amina', 'Kwame'],
  ...['Zoë', 'Renée', 'Jürgen', 'Björn', 'Søren', 'Łukasz', 'Siân', 'Chloé', 'Noël', 'Ingrid'],
];

export const lastNames = [
  ...['Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez'],
  ...[
    'Hernandez',
    'Lopez',
    'Gonzalez',
    'Wilson',
    'Anderson',
    'Thomas',
    'Taylor',
    'Moore',
    'Jackson',
    'Martin',
  ],
  ...['Lee', 'Perez', 'Thompson', 'White', 'Harris', 'Sanchez', 'Clark', 'Ramirez', 'Lewis', 'Robinson'],
  ...['Walker', 'Young', 'Allen', 'King', 'Wright', 'Scott', 'Torres', 'Nguyen', 'Hill', 'Flores'],
  ...['Green', 'Adams', 'Nelson', 'Baker', 'Hall', 'Rivera', 'Campbell', 'Mitchell', 'Carter', 'Roberts'],
  ...['Núñez', 'Müller', 'Østergård', 'Kowalczyk', 'Nakamura', 'Okafor', "O'Brien", 'Van den Berg', 'Çelik'],
  ...['Smith-Jones', 'Dubois', 'Rossi', 'Ivanova', 'Haddad', 'Mensah', 'Patel', 'Chaudhary', 'Kim', 'Zhang'],
];

const places: readonly (readonly [string, string, string])[] = [
  ['Austin', 'TX', '78701'],
  ['Columbus', 'OH', '43215'],
  ['Denver', 'CO', '80202'],
  ['Portland', 'OR', '97205'],
  ['Tampa', 'FL', '33602'],
  ['Phoenix', 'AZ', '85004'],
  ['Raleigh', 'NC', '27601'],
  ['Madison', 'WI', '53703'],
  ['Sacramento', 'CA', '95814'],
  ['Albany', 'NY', '12207'],
];
