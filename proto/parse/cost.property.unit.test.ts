import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { matches } from '../conditions.ts';
import { Problem } from '../errors.ts';
import { encodePayload, ingestEvent, payloadIn } from '../events/ingest.ts';
import { parseIdempotencyKey } from '../idempotency-key.ts';
import { keyOperations, memberOperations, operatorOperations } from '../operations.ts';
import { parseBody, parseQuery } from '../parse.ts';
import { maskPayload, maskText } from '../portal/mask.ts';
import { parseJson, readJsonObject } from './json.ts';

// Whatever bytes a caller sends, they cost about as much CPU as plain ones of the same length. Measured in CPU time against
// plain bytes in the same process, and again if they seem to cost more, so that a busy machine fails nothing.

const bytes = 32_768;
const mostTimes = 60;

const cpuMs = (act: () => void): number => {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
const refusable = (act: () => unknown) => (): void => {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Problem || error instanceof SyntaxError)) throw error;
  }
};

const record = {
  first_name: 'Katherine',
  last_name: 'Johnson',
  email: 'kit@example.com',
  n: 7.5,
  city: 'Graz',
};
const plain = Buffer.from(JSON.stringify({ items: Array(Math.floor(bytes / 90)).fill(record) }));
const plainMs = (): number => {
  const times = Array.from({ length: 15 }, () => cpuMs(() => readJsonObject(plain)));
  return Math.max(times.sort((a, b) => a - b)[7]!, 0.1);
};

const usualMs = plainMs();

/** @returns how many times as much as plain bytes it costs, at the least of several measurements. */
const timesPlain = (act: () => void): number => {
  let least = cpuMs(act) / usualMs;
  for (let tried = 0; tried < 5 && least > mostTimes; tried++)
    least = Math.min(least, cpuMs(act) / plainMs());
  return least;
};

const unit = fc.constantFrom(
  ...['1e999', '1e-400', '12345678901234567', '9007199254740992', '1.0000000000000000', '0', 'null', 'true'],
  ...['""', '"a"', '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0041\\n"', '" "', '"\u200b"', '"😀"'],
  ...['[]', '{}', '[[[[]]]]', '{"a":1,"a":2}', '{"\\n":1}', '{"\\"":[]}', '{"__proto__":1}', '{"":{}}'],
  ...[
    '"client.created"',
    '"https://a.example/"',
    '{"field":"amount","in":[1,2]}',
    '{"client_id":1}',
    '"10.0.0.0/8"',
  ],
);
const longText = fc
  .tuple(
    fc.constantFrom(
      ...[
        'x',
        ' ',
        '\u200b',
        '😀',
        'e\u0301',
        '1',
        '-',
        '/',
        'a.',
        'a@',
        '@',
        '+1 (',
        '%',
        '=',
        ',',
        ';',
        '"',
        '\\',
      ],
      ...[
        '\\n',
        '\\u0041',
        '\\ud800',
        'T+1',
        '2026-01-15T',
        '0',
        '\u00df',
        'https://',
        '::',
        '\u0000',
        '[',
        '{"a":',
      ],
    ),
    fc.constantFrom('', 'https://', 'a@', '+', '2026-01-15T10:00:00', '"'),
  )
  .map(([part, start]) => start + part.repeat(Math.floor(bytes / Buffer.byteLength(part))));

const filled = (one: string, length: number): string =>
  Array(Math.max(1, Math.floor(length / (Buffer.byteLength(one) + 1))))
    .fill(one)
    .join(',');
const nested = fc
  .tuple(unit, fc.constantFrom('[', '{"k":', '{"\\u006b":'), fc.constantFrom(0, 1, 30, 60, 200))
  .map(([one, open, depth]) => {
    const levels = Math.min(depth, bytes / 20);
    return `${open.repeat(levels)}[${filled(one, bytes - 10 * levels)}]${(open === '[' ? ']' : '}').repeat(levels)}`;
  });
const keyed = fc
  .tuple(unit, fc.constantFrom('k', '', '\\u006b', 'kkkkkkkkkkkkkkkkkkkk', '😀'), fc.boolean())
  .map(([one, start, same]) => {
    const count = Math.floor(bytes / (one.length + start.length + 8));
    return `{${Array.from({ length: count }, (_, at) => `"${start}${same ? '' : at}":${one}`).join(',')}}`;
  });
const anyJson = fc.oneof(
  nested,
  keyed,
  longText.map((text) => JSON.stringify(text)),
  nested.map((text) => text.slice(0, -1)),
);

const operations = [
  ...[...keyOperations, ...memberOperations, ...operatorOperations].filter(({ body }) => body !== null),
  { id: 'events.ingest', ...ingestEvent },
];
const namesOf = (schema: unknown): readonly string[] =>
  Object.keys((schema as { readonly shape?: object } | null)?.shape ?? {});
const body = fc.constantFrom(...operations).chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    name: fc.constantFrom(...namesOf(operation.body), 'other', 'items'),
    json: anyJson,
    isWhole: fc.boolean(),
  }),
);

test('bodies of every operation, of events.ingest, of imports and of passkeys', () => {
  fc.assert(
    fc.property(body, ({ operation, name, json, isWhole }) => {
      const sent = Buffer.from(isWhole ? json : `{"${name}":${json}}`);
      const times = timesPlain(refusable(() => parseBody(operation, sent, ['1', '2', '3', '4'])));
      expect(times, `${operation.id} ${name} ${String(sent).slice(0, 80)}`).toBeLessThan(mostTimes);
    }),
    { numRuns: 300, endOnFailure: true },
  );
}, 120_000);

test('a body at the bound of 1 MiB', () => {
  fc.assert(
    fc.property(unit, fc.constantFrom('[', '{"k":'), (one, open) => {
      const close = (open === '[' ? ']' : '}').repeat(60);
      const sent = Buffer.from(`{"a":${open.repeat(60)}[${filled(one, 32 * bytes)}]${close}}`);
      expect(timesPlain(refusable(() => readJsonObject(sent))) / 32).toBeLessThan(mostTimes);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 120_000);

test('queries', () => {
  const withQuery = [...keyOperations, ...memberOperations].filter(({ query }) => query !== null);
  const query = fc
    .constantFrom(...withQuery)
    .chain((operation) =>
      fc.tuple(
        fc.constant(operation),
        fc.constantFrom(...namesOf(operation.query), 'other'),
        fc.oneof(
          longText,
          longText.map(encodeURIComponent),
          fc.constantFrom('&', '&a=1', '&a', '%20', '+', '&limit=1', '&type=a'),
        ),
      ),
    );
  fc.assert(
    fc.property(query, ([operation, name, text]) => {
      const sent = `${name}=${text}${text.length < 20 ? text.repeat(16_000 / text.length) : ''}`.slice(
        0,
        16_000,
      );
      const times = timesPlain(refusable(() => parseQuery(operation, sent.toWellFormed())));
      expect(times, `${operation.id} ${sent.slice(0, 80)}`).toBeLessThan(mostTimes);
    }),
    { numRuns: 200, endOnFailure: true },
  );
}, 120_000);

test('stored payloads, answers of receivers and headers', () => {
  const conditions = [
    { field: 'client_id', exists: true },
    { field: 'first_name', startsWith: 'K' },
  ];
  fc.assert(
    fc.property(anyJson, longText, (json, text) => {
      const acts = [
        () => matches(conditions, payloadIn(Buffer.from(`{"payload":{"first_name":${json}}}`))),
        () => maskPayload('client.created', JSON.parse(json)),
        () => maskText(json),
        () => maskText(text),
        () => parseJson(json),
        () => encodePayload(parseJson(json)),
        () => parseIdempotencyKey(text.slice(0, 16_000)),
      ];
      for (const [at, act] of acts.entries())
        expect(timesPlain(refusable(act)), `${at} ${json.slice(0, 80)}`).toBeLessThan(mostTimes);
    }),
    { numRuns: 60, endOnFailure: true },
  );
}, 120_000);
