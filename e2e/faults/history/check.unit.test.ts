import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../../api/support/open.ts';
import type { Arrival, Attempt, Call, History, Subscribed } from './call.ts';
import { complaintsOf, violationsIn } from './check.ts';

type Loose<Value> = { -readonly [Name in keyof Value]: Value[Name] };
type LooseCall = Loose<Call>;

const secret = 'whsec_test';

/** A small history in which every promise is kept. Times rise by ten milliseconds from call to call. */
const rightHistory = () => {
  let atMs = 0;
  const calls: LooseCall[] = [];
  const call = (by: string, line: string, status: number, json: Json, more: Json = {}): LooseCall => {
    const [method = '', path = ''] = line.split(' ');
    const { version, body, idempotencyKey, ifMatch, answer = {} } = more;
    const one: LooseCall = {
      ...{ company: 1, by, key: 'key', method, path, body },
      headers: {
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        ...(ifMatch && { 'If-Match': `"${ifMatch}"` }),
      },
      sentMs: atMs + 10,
      endedMs: atMs + 20,
      reply: {
        status,
        json,
        text: JSON.stringify(json) ?? '',
        headers: { ...(version && { etag: `"${version}"` }), ...answer },
      },
    };
    atMs += 20;
    calls.push(one);
    return one;
  };
  const person = (n: number, version = 1, city = `w${n}.`, more: Json = {}) => ({
    ...{
      client_id: n,
      email: `p${n}@example.com`,
      city,
      version,
      affiliate_id: null,
      external_id: `x${n}.`,
      ...more,
    },
  });
  const create = (n: number, more: Json = {}, sent: Json = {}) => {
    const { client_id: _, version: __, ...body } = person(n, 1, `w${n}.`, sent);
    return call(
      'creator',
      'POST /integrations/clients',
      201,
      { client_id: n },
      { version: 1, body, ...more },
    );
  };
  const made = create(1);
  const read = call('editor', 'GET /integrations/clients/1', 200, person(1));
  const pages = [
    call('pager', 'GET /integrations/people?limit=1', 200, {
      people: [person(1)],
      nextCursor: 'a',
      hasMore: true,
    }),
  ];
  const patched = call(
    'editor',
    'PATCH /integrations/clients/1',
    200,
    {},
    { version: 2, ifMatch: 1, body: { city: 'w10.' } },
  );
  pages.push(
    call('pager', 'GET /integrations/people?limit=1&cursor=a', 200, {
      people: [person(1, 2, 'w10.')],
      hasMore: false,
    }),
  );
  const refused = call(
    'other editor',
    'PATCH /integrations/clients/1',
    412,
    { version: 2 },
    { ifMatch: 1, body: { city: 'w11.' } },
  );
  const affiliate = call(
    'linker',
    'POST /integrations/affiliates',
    201,
    { employee_id: 5 },
    { version: 1, body: { email: 'p5@example.com', affiliate_company_name: 'w5.' } },
  );
  const linked = create(2, {}, { affiliate_id: 5 });
  const note = call(
    'linker',
    'POST /integrations/clients/2/notes',
    201,
    { client_note_id: 7 },
    { version: 1, body: { text: 'w7.' } },
  );
  const shownAffiliate = {
    employee_id: 5,
    affiliate_code: 'A',
    email: 'p5@example.com',
    affiliate_company_name: 'w5.',
    version: 1,
  };
  const shownNote = { client_note_id: 7, client_id: 2, text: 'w7.', version: 1 };
  const entry = (type: string, id: number, record: Json, version = record?.version ?? 2) => ({
    type,
    id,
    version,
    record,
  });
  const feed = call('follower', 'GET /integrations/changes?limit=30', 200, {
    changes: [
      entry('affiliate', 5, shownAffiliate),
      entry('person', 1, person(1, 2, 'w10.')),
      entry('person', 2, person(2, 1, 'w2.', { affiliate_id: 5 })),
      entry('note', 7, shownNote),
    ],
    nextCursor: 'b',
    hasMore: false,
  });
  const keyed = create(3, { idempotencyKey: 'once' }, { external_id: undefined });
  const again = create(
    3,
    { idempotencyKey: 'once', version: undefined, answer: { 'idempotent-replayed': 'true' } },
    { external_id: undefined },
  );
  const met = call(
    'repeater',
    'POST /integrations/clients',
    200,
    { client_id: 1 },
    { version: 3, body: { ...made.body, city: 'w12.' } },
  );
  const erased = call('linker', 'DELETE /integrations/people/2', 204, undefined);
  const gone = call('linker', 'GET /integrations/people/2', 404, { error: 'not found' });
  const rest = call('follower', 'GET /integrations/changes?limit=30&cursor=b', 200, {
    changes: [
      entry('person', 1, person(1, 3, 'w12.')),
      entry('person', 2, null),
      entry('note', 7, null),
      entry('person', 3, person(3, 1, 'w3.', { external_id: null })),
    ],
    nextCursor: 'c',
    hasMore: false,
  });
  const list = call('auditor', 'GET /integrations/people?limit=200', 200, {
    people: [person(3, 1, 'w3.', { external_id: null }), person(1, 3, 'w12.')],
    hasMore: false,
  });
  call('auditor', 'GET /integrations/affiliates?limit=200', 200, {
    affiliates: [shownAffiliate],
    hasMore: false,
  });
  const event = (id: number, type: string, payload: Json) => ({ id, type, payload });
  const logged = [
    event(101, 'client.created', { client_id: 1, email: 'p1@example.com' }),
    event(102, 'affiliate.created', { employee_id: 5, email: 'p5@example.com' }),
    event(103, 'client.created', { client_id: 2, erased: true }),
    event(104, 'client.created', { client_id: 3, email: 'p3@example.com' }),
  ];
  const entries = logged.map((one, at) => ({ event: one, sequence: at + 1 }));
  const walked = call('follower', 'GET /events?order=asc&include=meta&limit=100', 200, {
    entries: entries.slice(),
    hasMore: false,
  });
  const log = call('auditor', 'GET /events?order=asc&include=meta&limit=1000', 200, {
    entries,
    hasMore: false,
  });
  const limited = [2, 1, 0].map((left) =>
    call(
      'reader',
      'GET /integrations/lookups/employees',
      200,
      { employees: [] },
      {
        answer: {
          'x-ratelimit-policy': 'read:3/1m',
          'x-ratelimit-limit': '3',
          'x-ratelimit-reset': '60',
          'x-ratelimit-remaining': String(left),
        },
      },
    ),
  );

  const to: Loose<Subscribed> = { id: 9, company: 1, path: '/1', types: ['client.created'], secret, pace: 2 };
  const arrive = (id: string, body: string, ms: number, attempt = 1): Loose<Arrival> => {
    const signature = createHmac('sha256', secret).update(`1000.${body}`).digest('hex');
    const headers = { 'x-webhook-timestamp': '1000', 'x-webhook-signature': `sha256=${signature}` };
    return { path: '/1', id, attempt, headers, body, atMs: ms, answeredMs: ms + 5 };
  };
  const arrivals = logged
    .filter(({ type }) => type === 'client.created')
    .map((one, at) => arrive(String(one.id), JSON.stringify(one), 1_000 * at));
  const attempts: Loose<Attempt>[] = arrivals.map(({ id, atMs: ms }) => ({
    subscription: 9,
    id,
    attempt: 1,
    startedMs: ms,
    elapsedMs: 5,
    error: null,
  }));
  const role = { ...call('owner', 'PATCH /team/members/4', 200, {}), path: '/team/members/4' };
  calls.pop();
  const told = { changes: [role], notices: [{ id: 71, kind: 'access_changed' }] };
  const message = (id: string, notice: number) => ({
    ...arrive(id, JSON.stringify({ id, payload: { notices: [{ id: notice }] } }), 9_000),
    path: '/notices',
  });
  arrivals.push(message('m1', 71));
  const history: Loose<History> = {
    ...{ calls, arrivals, attempts, told, subscribed: [to] },
    ...{ repeatsAllowed: 0, edge: false, receiverCut: false },
  };
  return {
    history,
    call,
    create,
    person,
    made,
    read,
    pages,
    patched,
    refused,
    affiliate,
    linked,
    note,
    feed,
    again,
    met,
    keyed,
    erased,
    gone,
    rest,
    list,
    logged,
    walked,
    log,
    limited,
    arrive,
    arrivals,
    attempts,
    message,
    told,
    to,
  };
};

type Right = ReturnType<typeof rightHistory>;

const jsonOf = (call: LooseCall): Json => (call.reply as { json: Json }).json;
const answer = (call: LooseCall, status: number, json: Json = {}): void => {
  call.reply = { status, json, text: JSON.stringify(json), headers: {} };
};

const contract = readFileSync(join(import.meta.dirname, '../../../proto/CONTRACT.md'), 'utf8').replaceAll(
  /\s+/g,
  ' ',
);

test('a history in which every promise is kept breaks none', () => {
  expect(complaintsOf(rightHistory().history)).toEqual([]);
});

const planted: readonly [what: string, sentence: string, plant: (right: Right) => void][] = [
  ['an internal error', 'Never a stack', ({ read }) => answer(read, 500)],
  ['a valid request that is refused', 'lists every problem', ({ read }) => answer(read, 400)],
  ['an unknown 503', '`keys_unavailable` (above)', ({ read }) => answer(read, 503, { reason: 'tired' })],
  ['no answer', 'The connection survives', ({ read }) => Object.assign(read, { reply: new Error('reset') })],
  [
    'an answer that the document lacks',
    'the OpenAPI document',
    ({ history }) => {
      history.problemOf = ({ method }) => (method === 'DELETE' ? 'undocumented' : undefined);
    },
  ],
  [
    'the id of another record',
    'An id names one record',
    ({ met }) => {
      jsonOf(met).client_id = 3;
    },
  ],
  [
    'the id of another company’s record',
    'An id names one record',
    ({ create }) => {
      create(3, {}, { email: 'p9@example.com' }).company = 2;
    },
  ],
  [
    'an event with another id',
    'An id names one record',
    ({ logged }) => {
      logged[3]!.payload.client_id = 1;
    },
  ],
  [
    'two contents of one version',
    'an integer that rises',
    ({ read }) => {
      jsonOf(read).city = 'w99.';
    },
  ],
  [
    'a reading that goes back',
    'an integer that rises',
    ({ call, person }) => call('editor', 'GET /integrations/clients/1', 200, person(1)),
  ],
  [
    'a 503 that was done',
    'nothing was done',
    ({ met }) => answer(met, 503, { reason: 'service_unavailable' }),
  ],
  ['a 412 that was done', 'The condition of a write', ({ patched }) => answer(patched, 412, { version: 2 })],
  [
    'a 400 that was done',
    'A refused request (4xx)',
    ({ keyed, again }) => {
      answer(keyed, 400);
      answer(again, 400);
    },
  ],
  [
    'a lost update',
    'an edit in between is a 412',
    ({ refused }) => {
      answer(refused, 200);
    },
  ],
  [
    'a refused update of the present version',
    'the answer is 412',
    ({ refused }) => {
      jsonOf(refused).version = 1;
    },
  ],
  ['a record that was there', 'no such record in this company', ({ read }) => answer(read, 404)],
  [
    'a delete that was done and is a 404',
    'no such record in this company',
    ({ erased }) => answer(erased, 404),
  ],
  [
    'another answer to a repetition',
    'byte for byte',
    ({ again }) => {
      (again.reply as Loose<{ text: string }>).text = '{"client_id": 3}';
    },
  ],
  [
    'a request that was carried out twice',
    'and `Idempotent-Replayed: true`',
    ({ again }) => {
      (again.reply as Loose<{ headers: object }>).headers = {};
    },
  ],
  [
    'a first answer that says it is repeated',
    'that the client sent once',
    ({ made }) => {
      made.headers = { 'Idempotency-Key': 'alone' };
      Object.assign((made.reply as { headers: object }).headers, { 'idempotent-replayed': 'true' });
    },
  ],
  [
    'two records of one external_id',
    'exactly one answers 201',
    ({ met }) => answer(met, 201, { client_id: 1 }),
  ],
  [
    'a record that is lost',
    'without its answer being remembered',
    ({ list }) => {
      jsonOf(list).people.shift();
    },
  ],
  [
    'an erased person that is read',
    'With the answer, 204',
    ({ gone, person }) => answer(gone, 200, person(2, 1, 'w2.', { affiliate_id: 5 })),
  ],
  [
    'an erased note that is read',
    'With the answer, 204',
    ({ gone }) => answer(gone, 200, { notes: [{ text: 'w7.' }] }),
  ],
  [
    'a person without its affiliate',
    'the state of one moment',
    ({ feed }) => {
      jsonOf(feed).changes.shift();
    },
  ],
  [
    'a feed that lacks a change',
    'the state of one moment',
    ({ feed }) => {
      jsonOf(feed).changes.splice(1, 1);
    },
  ],
  [
    'a feed that lacks an earlier change than one it has',
    'the state of one moment',
    ({ feed, linked, note }) => {
      jsonOf(feed).changes.splice(1, 1);
      // The page began before all of them, and ended after.
      feed.sentMs = 0;
      void [linked, note];
    },
  ],
  [
    'a feed without a deletion',
    'the state of one moment',
    ({ rest }) => {
      jsonOf(rest).changes.splice(1, 1);
    },
  ],
  [
    'a feed that differs from the list',
    'applies each entry whose `version` is higher',
    ({ list }) => {
      jsonOf(list).people[0].external_id = 'other';
    },
  ],
  [
    'a list that leaves a record out',
    'is left out',
    ({ pages, create }) => {
      const other = create(4);
      other.sentMs = 0;
      other.endedMs = 1;
      void pages;
    },
  ],
  [
    'a changed record that does not come again',
    'comes again',
    ({ pages }) => {
      jsonOf(pages[1]!).people.length = 0;
    },
  ],
  [
    'a cursor that skips an event',
    'never skips an event',
    ({ walked }) => {
      jsonOf(walked).entries.splice(1, 1);
    },
  ],
  [
    'events out of their order',
    'in the order of commits',
    ({ walked }) => {
      jsonOf(walked).entries.reverse();
    },
  ],
  ['a record without its event', 'in the transaction of its cause', ({ create }) => create(4)],
  [
    'a request beyond the limit',
    'exactly `limit` requests pass',
    ({ limited, history }) => void (history.calls as LooseCall[]).push({ ...limited[2]! }),
  ],
  [
    'a number that is given twice',
    'the n-th request',
    ({ limited }) => {
      limited[1]!.reply = limited[0]!.reply;
    },
  ],
  [
    'a lost delivery',
    'the event is delivered',
    ({ arrivals }) => {
      arrivals.shift();
    },
  ],
  [
    'a delivery of no event',
    'there is no event',
    ({ arrivals, arrive }) => {
      arrivals.push(arrive('999', '{}', 5_000));
    },
  ],
  [
    'other bytes in a second attempt',
    'the same in every attempt',
    ({ arrivals, arrive }) => {
      arrivals.push(arrive('101', '{"id":101}', 5_000, 2));
    },
  ],
  [
    'a wrong signature',
    'keyed with the secret',
    ({ to }) => {
      to.secret = 'whsec_other';
    },
  ],
  [
    'a repeated delivery',
    'It may arrive more than once',
    ({ arrivals, arrive }) => {
      arrivals.push(arrive('101', arrivals[0]!.body, 5_000, 2));
    },
  ],
  [
    'an answer that was recorded as a timeout',
    'within 10 seconds',
    ({ attempts }) => {
      attempts[0]!.error = 'timeout';
    },
  ],
  [
    'a pace that is exceeded',
    'begin within any second',
    ({ attempts }) => {
      attempts[0]!.startedMs = 1_500;
      attempts[1]!.startedMs = 1_600;
      attempts[2]!.startedMs = 1_700;
    },
  ],
  [
    'a lost notice',
    'a cause has one notice',
    ({ told }) => {
      told.notices.length = 0;
    },
  ],
  [
    'a notice that is told twice',
    'then it has the same',
    ({ arrivals, message }) => {
      arrivals.push(message('m2', 71));
    },
  ],
  [
    'a notice that is not told',
    'until it is accepted',
    ({ arrivals }) => {
      arrivals.pop();
    },
  ],
];

test.each(planted)('%s breaks "%s"', (_, sentence, plant) => {
  const right = rightHistory();
  plant(right);
  const found = violationsIn(right.history).map((one) => one.sentence);
  expect(found.filter((one) => one.includes(sentence))).not.toEqual([]);
  expect(found.filter((one) => !contract.includes(one))).toEqual([]);
  expect(complaintsOf(right.history).join('\n')).toContain(sentence);
});

test('an unknown outcome may be either', () => {
  for (const what of ['patched', 'met'] as const) {
    const right = rightHistory();
    answer(right[what], 504, { reason: 'timeout' });
    expect(complaintsOf(right.history)).toEqual([]);
  }
});
