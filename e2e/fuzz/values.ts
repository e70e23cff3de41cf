import type { Json } from '../api/support/world.ts';
import type { Dice } from './dice.ts';
import type { Learned } from './learned.ts';

/** What breaks services more often than chance would find. */
export const oddities: readonly Json[] = [
  ...[
    '',
    ' ',
    '\t\n',
    '\u0000',
    'a\u0000b',
    '\u202e',
    '\ufeff',
    '😀',
    'é'.normalize('NFD'),
    '\ud800',
    'a\udc00',
  ],
  ...[
    'null',
    'undefined',
    'NaN',
    '0',
    '-1',
    '1e9',
    '__proto__',
    'constructor',
    '{}',
    '[]',
    '%00',
    '%',
    '..',
    '/',
  ],
  ...["'", '"', '`', "' OR 1=1 --", '\\', '%_%', '{{7*7}}', '<script>', '$KV.>', 'a.*.>', '\r\nX: y'],
  ...[
    'ß',
    'İ',
    'ﷺ',
    '٣٤٥',
    '１２３',
    'Lead - New',
    'Client - Active',
    'client.created',
    '2026-02-30T25:61:61Z',
  ],
  ...['a'.repeat(101), '😀'.repeat(101), 'x'.repeat(300), 'y'.repeat(11_000)],
  ...[
    0,
    -0,
    -1,
    1,
    2,
    0.1,
    0.005,
    1.5,
    99.999,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    2 ** 53 + 2,
    -(2 ** 63),
    1e21,
    1e308,
  ],
  ...[
    true,
    false,
    null,
    [],
    {},
    [[]],
    [null],
    { a: 1 },
    JSON.parse('{"__proto__":null,"id":1}'),
    ['a', 'b'],
    [1, 2, 3],
  ],
];

/** A value that follows a schema, made of what was learned where a name is known. */
export const validValue = (dice: Dice, schema: Json, name: string, learned: Learned): Json => {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return dice.pick(schema.enum);
  const choices =
    schema.anyOf ?? (Array.isArray(schema.type) && schema.type.map((type: string) => ({ ...schema, type })));
  if (choices) return validValue(dice, dice.pick(choices), name, learned);
  if (schema.format !== 'uri' && !dice.oneIn(/id$/.test(name) ? 20 : 3)) {
    const known = learned.valueFor(dice, name, schema.type);
    if (known !== undefined) return known;
  }
  switch (schema.type) {
    case 'integer':
    case 'number': {
      const least = schema.minimum ?? 0;
      const most = Math.min(schema.maximum ?? 1_000, least + 1_000);
      return least + dice.below(most - least + 1);
    }
    case 'boolean':
      return dice.oneIn(2);
    case 'null':
      return null;
    case 'array': {
      const count = Math.max(schema.minItems ?? 0, 1 + dice.below(3));
      return Array.from({ length: count }, () => validValue(dice, schema.items ?? {}, name, learned));
    }
    case 'object':
      return validObject(dice, schema, learned);
    case 'string':
      return validText(dice, schema, name, learned);
    default:
      return dice.pick(oddities.filter((one) => !isBroken(one)));
  }
};

const validObject = (dice: Dice, schema: Json, learned: Learned): Json => {
  const object: Json = {};
  // What is stored cannot be known from the description.
  for (const [name, inner] of Object.entries<Json>(schema.properties ?? {}))
    if (!inner.readOnly && (schema.required?.includes(name) || dice.oneIn(2)))
      object[name] = validValue(dice, inner, name, learned);
  const { additionalProperties: more } = schema;
  if (more && dice.oneIn(2)) {
    const name = `field_${dice.below(9)}`;
    object[name] = validValue(dice, more, name, learned);
  }
  return object;
};

/** Not of Unicode, or with a NUL: no text of JSON's that may be sent. */
const isBroken = (value: Json): boolean =>
  typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'));

const validText = (
  dice: Dice,
  { format, minLength = 0, maxLength = 40, pattern }: Json,
  name: string,
  learned: Learned,
): string => {
  if (format === 'email') return `fuzz.${dice.below(1_000)}@example.com`;
  if (format === 'uri') return learned.url(dice);
  if (format === 'date-time') return new Date(Date.now() - dice.below(86_400_000)).toISOString();
  if (/phone/.test(name)) return `+1 555 ${String(dice.below(10_000)).padStart(4, '0')}`;
  const any = ['Ada', 'Łódź', 'O’Neil', 'zoë', '-', ' ', '😀', 'b4', "d'or", '東京', '%_'];
  const letters = pattern ? any.filter((one) => new RegExp(pattern).test(one)) : any;
  let text = '';
  const wanted = Math.max(minLength, 1 + dice.below(Math.min(maxLength, 30)));
  while (letters.length > 0 && [...text].length < wanted) text += dice.pick(letters);
  return (
    [...text]
      .slice(0, Math.max(minLength, Math.min(maxLength, wanted)))
      .join('')
      .trim() || 'a'
  );
};
