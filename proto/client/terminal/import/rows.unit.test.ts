import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../errors.ts';
import { ConnectionLost, Invalid } from '../../index.ts';
import { importRules } from '../rules.generated.ts';
import { checkRow, matchColumns } from './check.ts';
import { csvRecords, readRows } from './rows.ts';
import { sendBatch } from './send.ts';

const listOf = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

/** Cut into pieces of each length, as a stream may cut it. */
const recordsOf = async (text: string, length: number) => {
  const pieces = async function* () {
    for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
  };
  return listOf(csvRecords(pieces()));
};

test.each([
  [
    'a,b\r\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a;b\n"1;\n""x""";\n\n',
    [
      ['a', 'b'],
      ['1;\n"x"', ''],
    ],
  ],
  [
    'a\tb\r1\t"2"',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  ['a\n""\n \n', [['a'], [''], [' ']]],
  ['a\n5" pipe\n', [['a'], ['5" pipe']]],
  ['', []],
])('%j is read as its records, wherever it is cut', async (text, records) => {
  // The header names the separator.
  for (const length of [4, 5, 7, 100]) expect(await recordsOf(text, length)).toEqual(records);
});

const rowsOf = (name: string, content: string | Uint8Array) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-rows-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return listOf(readRows(path, { hash: createHash('sha256'), onColumns: () => {} }));
};

test('a file is read without its byte order mark, and a row of another length is told', async () => {
  expect(await rowsOf('a.csv', '\ufeffa,b\n1,2\n3\n')).toEqual([
    { number: 2, values: { a: '1', b: '2' } },
    { number: 3, values: { a: '3', b: '' }, fault: 'the row has 1 cells, and the header 2' },
  ]);
  expect(await rowsOf('a.ndjson', '{"a":1}\r\n\n{"__proto__":"x"}')).toHaveLength(2);
});

test.each([
  ['a.csv', '', 'the file is empty'],
  ['a.csv', 'a\n"1\n2\n', 'row 2 has a quote that does not end'],
  ['a.csv', `a\n"${'x'.repeat(9 * 1024 * 1024)}`, 'row 2 is longer than 8 MiB'],
  ['a.csv', Buffer.from('a\n\xff\n', 'latin1'), 'is not UTF-8'],
  ['a.ndjson', '{"a":1}\n[1]\n', 'line 2 is no JSON object'],
])('%s that is no such file is refused', async (name, content, sentence) => {
  await expect(rowsOf(name, content)).rejects.toThrow(sentence);
});

const rules = importRules.leads!;

test('columns are matched by name, and each that cannot be is told', () => {
  const matched = (...columns: readonly string[]) => matchColumns(columns, rules, new Set(['Notes']));
  expect([...matched('First Name', 'E-MAIL', 'Notes', 'import_error').fields.values()]).toEqual([
    'first_name',
    'email',
  ]);
  expect(matched('Emial', 'city', 'city', 'CITY').faults).toEqual([
    expect.stringContaining('"Emial" is no field'),
    'the column "city" is there twice',
    expect.stringContaining('"CITY" is the field city'),
  ]);
});

test('a row is checked by the rules that the interface publishes', () => {
  const check = (values: object, mode: 'create' | 'update' | 'upsert' = 'upsert') =>
    checkRow(
      { number: 2, values: { ...values } },
      matchColumns(Object.keys(values), rules, new Set()),
      rules,
      mode,
      'client_id',
    );
  const person = { first_name: 'Zoë', last_name: 'Byron', email: 'zoe@example.com' };
  expect(check({ ...person, city: ' ', employee_id: '7' }, 'create')).toEqual({
    item: { ...person, employee_id: 7 },
    problems: [],
  });
  expect(check({ client_id: '12', city: '' }, 'update')).toEqual({
    item: { client_id: 12, city: null },
    problems: [],
  });
  expect(check({ city: 'Bern' }).problems).toEqual(
    ['email', 'first_name', 'last_name'].map((name) => `${name} is required`),
  );
  expect(
    check(
      { ...person, email: 'x', phone: 'ask', zip: '1'.repeat(17), employee_id: 'Ada', last_name: '' },
      'update',
    ).problems.toSorted(),
  ).toEqual(
    [
      'last_name is required',
      'email must be one valid email address',
      'phone has characters that are not allowed',
      'zip must be at most 16 characters (actual: 17)',
      'employee_id must be a number',
    ].toSorted(),
  );
});

const answers = (...given: readonly unknown[]) => {
  let sent = 0;
  const send = async () => {
    const answer = given[sent++];
    if (answer instanceof Error) throw answer;
    return { results: [{ index: 0, status: answer as number, body: {} }] };
  };
  return { send, sent: () => sent };
};
const refusal = (status: number, body: object) =>
  failureOf(new Response(JSON.stringify(body), { status, headers: { 'Retry-After': '0' } }));

test('a batch is sent until it is answered whole: after a limit, a lost line, and rows that were not begun', async () => {
  const { send, sent } = answers(
    await refusal(429, { error: 'too many' }),
    new ConnectionLost('no answer'),
    await refusal(409, { error: 'under way', reason: 'idempotency_in_progress' }),
    503,
    201,
  );
  const why: string[] = [];
  const results = await sendBatch(send, new AbortController().signal, (text) => why.push(text));
  expect([results[0]!.status, sent(), why[0], why[3]]).toEqual([
    ...[201, 5, 'the limit of this minute is used up', 'some rows were not begun'],
  ]);
});

test('a batch that is refused is not sent again', async () => {
  const { send, sent } = answers(await refusal(400, { error: 'no mode' }), 201);
  await expect(sendBatch(send, new AbortController().signal, () => {})).rejects.toThrow(Invalid);
  expect(sent()).toBe(1);
});
