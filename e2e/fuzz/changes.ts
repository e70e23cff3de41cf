import type { Json } from '../api/support/world.ts';
import type { Dice } from './dice.ts';
import type { MadeRequest } from './requests.ts';
import { oddities } from './values.ts';

/** Spoils a request in one to three ways. */
export const spoil = (dice: Dice, made: MadeRequest): MadeRequest => {
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const [name, change] = dice.pick(changes);
    if (change(made, dice)) made.changes.push(name);
  }
  return made;
};

/** @returns whether it changed anything. */
type Change = (made: MadeRequest, dice: Dice) => boolean;

const fieldsOf = (made: MadeRequest): Record<string, Json> | undefined => {
  if (typeof made.body !== 'string' || !made.body.startsWith('{') || made.body.length > 4_000)
    return undefined;
  try {
    return JSON.parse(made.body) as Record<string, Json>;
  } catch {
    return undefined; // Spoilt before.
  }
};

/** Another value for one field of a body that is an object. */
const inField =
  (change: (value: Json, dice: Dice) => Json): Change =>
  (made, dice) => {
    const fields = fieldsOf(made);
    if (!fields) return false;
    const name = dice.pick([...Object.keys(made.endpoint.body?.schema.properties ?? {}), 'extra']);
    made.body = JSON.stringify({ ...fields, [name]: change(fields[name], dice) });
    return true;
  };

const withoutField: Change = (made, dice) => {
  const fields = fieldsOf(made);
  if (!fields) return false;
  const name = dice.pick(Object.keys(fields));
  made.body = JSON.stringify({ ...fields, [name]: undefined });
  return true;
};

const inText =
  (change: (text: string, dice: Dice) => string | Uint8Array): Change =>
  (made, dice) => {
    if (made.endpoint.body === null && !dice.oneIn(4)) return false;
    made.body = change(typeof made.body === 'string' ? made.body : '{}', dice);
    return true;
  };

const inPath =
  (change: (path: string, dice: Dice) => string): Change =>
  (made, dice) => {
    const [path = '', ...query] = made.path.split('?');
    made.path = [change(path, dice), ...query].join('?');
    return true;
  };

const inQuery =
  (part: (name: string, dice: Dice) => string): Change =>
  (made, dice) => {
    const name = dice.pick([...Object.keys(made.endpoint.query), 'a']);
    made.path += (made.path.includes('?') ? '&' : '?') + part(name, dice);
    return true;
  };

const inHeader =
  (name: string, values: readonly string[]): Change =>
  (made, dice) => {
    made.headers[name] = dice.pick(values);
    return true;
  };

const asText = (value: Json): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** The first value of a JSON text replaced by one that `JSON.stringify` would not write. */
const firstValue = (text: string, value: string): string => text.replace(/:[^,}\]]+/, `:${value}`);
const deep = (dice: Dice): string => {
  const depth = dice.pick([60, 64, 65, 100, 5_000, 100_000]);
  return `${'['.repeat(depth)}1${']'.repeat(depth)}`;
};
const amid = (text: string, byte: number): Buffer =>
  Buffer.concat([Buffer.from(text.slice(0, -2)), Buffer.of(byte), Buffer.from(text.slice(-2))]);

const strangeNames = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  'Email',
  'id',
  'company_id',
  '😀',
  '$where',
];
const strangeIds = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '01',
  '9007199254740992',
  '99999999999999999999',
  'abc',
  'null',
].concat(
  ...[
    '%00',
    '%20',
    '1%2f',
    '..',
    '.',
    '%ff',
    '1;2',
    '%EF%BC%91',
    '\xb9',
    '1,2',
    '*',
    '0x1',
    '+1',
    'test',
    '%2e%2e',
  ],
);
const rawQueries = [
  '%',
  '%zz',
  '%ff',
  '%c0%80',
  '%ed%a0%80',
  '=',
  '&&&',
  '==',
  'a=%00',
  'q[]=1',
  'q=1&q=2',
  '\xe9=1',
];
const noObjects = ['[]', '"text"', '1', 'null', 'true', '', ' ', '\ufeff{}', 'a=1&b=2', '<a/>', '{', 'NaN'];

const changes: readonly (readonly [name: string, change: Change])[] = [
  ['an odd value', inField((_, dice) => dice.pick(oddities))],
  ['another odd value', inField((_, dice) => dice.pick(oddities))],
  ['null', inField(() => null)],
  ['in an array', inField((value) => [value])],
  ['as a text', inField(asText)],
  ['as a number', inField((value) => Number(value))],
  ['twice as long', inField((value) => asText(value).repeat(2))],
  ['in capitals', inField((value) => asText(value).toUpperCase())],
  ['a field less', withoutField],
  [
    'an unknown field',
    inText((text, dice) => text.replace('{', `{${JSON.stringify(dice.pick(strangeNames))}:1,`)),
  ],
  ['a field twice', inText((text) => text.replace(/^\{("(?:[^"\\]|\\.)*":)/, '{$17,$1'))],
  ['a huge number', inText((text) => firstValue(text, `1${'0'.repeat(400)}`))],
  ['an exponent beyond all', inText((text) => firstValue(text, '1e999'))],
  ['nested deeply', inText((text, dice) => firstValue(text, deep(dice)))],
  ['a deep body', inText((_, dice) => deep(dice))],
  ['cut short', inText((text, dice) => text.slice(0, dice.below(text.length)))],
  ['with something behind it', inText((text, dice) => text + dice.pick(['x', '{}', '\0', ',', ' ', '\n']))],
  ['no object', inText((_, dice) => dice.pick(noObjects))],
  ['bytes that are no UTF-8', inText((text, dice) => amid(text, dice.pick([0xff, 0xc0, 0xed, 0x80])))],
  ['UTF-16', inText((text) => Buffer.from(text, 'utf16le'))],
  ['a strange id', inPath((path, dice) => path.replace(/\/\d+(?=\/|$)/, `/${dice.pick(strangeIds)}`))],
  ['an id of nobody', inPath((path, dice) => path.replace(/\/\d+(?=\/|$)/, `/${1 + dice.below(2 ** 40)}`))],
  [
    'another path',
    inPath((path, dice) =>
      dice.pick([
        `${path}/`,
        `${path}/x`,
        path.replace(/\/\w+$/, ''),
        path.toUpperCase(),
        path.replace('v1', 'v2'),
      ]),
    ),
  ],
  ['an unknown parameter', inQuery((_, dice) => `${encodeURIComponent(dice.pick(strangeNames))}=1`)],
  ['a parameter twice', inQuery((name) => `${name}=1&${name}=2`)],
  [
    'an odd parameter',
    inQuery(
      (name, dice) =>
        `${name}=${encodeURIComponent(asText(dice.pick(oddities)).toWellFormed()).slice(0, 9_000)}`,
    ),
  ],
  ['a raw query', inQuery((_, dice) => dice.pick(rawQueries))],
  [
    'another content type',
    inHeader('content-type', [
      'text/plain',
      'multipart/form-data; boundary=x',
      '',
      'x',
      'application/json; charset=utf-16',
    ]),
  ],
  ['an encoding that it has not', inHeader('content-encoding', ['gzip', 'br', 'x'])],
  [
    'a strange request id',
    inHeader('x-request-id', ['', ' ', 'a b', 'x'.repeat(200), '<script>', 'ok-1', 'é']),
  ],
  [
    'a strange trace',
    inHeader('traceparent', ['', '00', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, 'x'.repeat(600)]),
  ],
  ['a condition', inHeader('if-match', ['*', '"1"', '2', 'W/"2"', 'x', ''])],
  ['asking for another type', inHeader('accept', ['text/html', 'image/*', 'application/xml;q=1', '*/*;q=0'])],
];
