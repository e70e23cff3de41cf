import { describe, expect, test } from 'vitest';
import { Problem } from './errors.ts';
import type { Operation } from './operation.ts';
import { contract as c, type keyOperations } from './operations.ts';
import { readBatch } from './parse/batch.ts';
import { maxDetails } from './parse/scan-json.ts';
import { parseBody, parseId, parseQuery } from './parse.ts';

const json = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

const refused = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, publicMessage: text, details = [], extra } = error;
    expect(details.every(({ message }) => !message.includes('{field}'))).toBe(true);
    const codes = details.map((detail) => detail.code);
    return { code, text, fields: details.map(({ field }) => field), codes, extra };
  }
  throw new Error('nothing was refused');
};
const refusedQuery = (operation: (typeof keyOperations)[number], raw: string) =>
  refused(() => parseQuery(operation, raw));
const refusedBody = (operation: Operation, value: unknown, params?: string[]) =>
  refused(() => parseBody(operation, json(value), params));

describe('a query', () => {
  test('has its defaults when it is empty', () => {
    expect(parseQuery(c.searchClients, '')).toEqual({ q: '', limit: 25 });
    expect(parseQuery(c.listEvents, '')).toEqual({ limit: 25, order: 'desc', wait: 0 });
    expect(parseQuery(c.listEmployees, '')).toEqual({});
    expect(parseQuery(c.listEmployees, '&&')).toEqual({});
  });

  test('says how a list is written', () => {
    for (const raw of ['external_id[]=a&external_id[]=b', 'external_id%5B%5D=a'])
      expect(refusedQuery(c.listPeople, raw).text).toBe(
        'unknown query parameter: external_id[]; repeat external_id itself',
      );
  });
});

describe('a client search', () => {
  test.each([
    ['q=7', '7'],
    ['q=00012345678901234567890', '00012345678901234567890'],
    ['q=ab', 'ab'],
    ['q=%C3%A9x', 'éx'],
    ['q=', ''],
    ['q=+++', ''],
    ['q', ''],
  ])('accepts %s', (raw, q) => {
    expect(parseQuery(c.searchClients, raw)).toEqual({ q, limit: 25 });
  });

  test.each(['q=a', 'q=%F0%9F%98%80', 'q=+b+', 'q=-', 'q=%D9%A3'])(
    'refuses the single character of %s',
    (raw) => {
      expect(refusedQuery(c.searchClients, raw)).toMatchObject({
        code: 'invalid_request',
        text: 'q must be at least 2 characters, or a client ID',
      });
    },
  );

  test.each(['0', '26', '-1', '1.5', '1e1', ' 5', 'x', '99999999999999999999'])(
    'refuses the limit "%s"',
    (limit) => {
      expect(refusedQuery(c.searchClients, `q=ada&limit=${limit}`).text).toBe(
        'limit must be an integer between 1 and 25',
      );
    },
  );

  test.each([1, 25])('accepts the limit %d', (limit) => {
    expect(parseQuery(c.searchClients, `limit=${limit}`).limit).toBe(limit);
  });
});

describe('a find', () => {
  const oneOf = 'at least one of email, phone, external_id and client_id is required';
  test.each([
    ['', oneOf],
    ['email=&external_id=+&phone=', oneOf],
    [
      'phone=12',
      'phone must be 3 to 32 characters of digits, space and +()-./x, with at least 3 digits (actual: 2 digits)',
    ],
    [
      'phone=%2B1%C2%A0555',
      'phone must be 3 to 32 characters of digits, space and +()-./x, with at least 3 digits (character 3 is U+00A0)',
    ],
    [
      'phone=555%E2%80%930104',
      'phone must be 3 to 32 characters of digits, space and +()-./x, with at least 3 digits (character 4 is "–", U+2013)',
    ],
    ['client_id=abc', 'client_id must be a positive integer'],
    ['client_id=0', 'client_id must be a positive integer'],
    ['client_id=-4', 'client_id must be a positive integer'],
    ['client_id=9007199254740992', 'client_id must be a positive integer'],
  ])('refuses "%s"', (raw, text) => {
    expect(refusedQuery(c.findClients, raw).text).toBe(text);
    expect(refusedQuery(c.findLeads, raw).text).toBe(text);
  });

  test('accepts all four together', () => {
    expect(
      parseQuery(
        c.findLeads,
        'email=A%2Bb%40Example.com&phone=(555)+010-4477&external_id=x&client_id=9007199254740991',
      ),
    ).toEqual({
      email: 'A+b@Example.com',
      phone: '(555) 010-4477',
      external_id: 'x',
      client_id: Number.MAX_SAFE_INTEGER,
    });
  });
});

describe('an event listing', () => {
  test.each([
    ['limit=1001', 'limit must be an integer between 1 and 1000'],
    ['wait=26', 'wait must be an integer between 0 and 25'],
    ['wait=1.5', 'wait must be an integer between 0 and 25'],
    ['include=payload', 'include must be meta'],
    ['type=lead.created,nope', 'unknown event type: nope'],
    ['cursor=a%20b', 'invalid cursor'],
    ['type=nope', 'unknown event type: nope'],
    ['order=up', 'order must be asc or desc'],
  ])('refuses %s', (raw, text) => {
    expect(refusedQuery(c.listEvents, raw).text).toBe(text);
  });

  test('takes several types, each once', () => {
    const { type } = parseQuery(c.listEvents, 'type=lead.created,%20client.created,lead.created');
    expect(type).toEqual(['lead.created', 'client.created']);
  });
});

describe('a body', () => {
  const person = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com' };

  test.each([
    ['{', 'the body must be valid JSON: line 1, column 2'],
    ['{"a":1,}', 'the body must be valid JSON: line 1, column 8'],
    ['  ', 'the body must be valid JSON: line 1, column 3'],
    ['{} {}', 'the body must be valid JSON: line 1, column 4'],
    ['a=b', 'the body must be valid JSON: line 1, column 1'],
    ['{"a":"\u0000"}', 'the body must be valid JSON: line 1, column 6'],
    ['[]', 'the body must be a JSON object'],
    ['null', 'the body must be a JSON object'],
    ['"text"', 'the body must be a JSON object'],
    ['7', 'the body must be a JSON object'],
    ['{"first_name":"a\\u0000b"}', 'first_name must not contain a NUL character'],
    ['{"first_name":["\\u0000"]}', 'first_name[0] must not contain a NUL character'],
    ['{"first_name":{"\\u0000":1}}', 'first_name must not contain a NUL character'],
    ['{"first_name":"a\\ud800b"}', 'first_name must be valid Unicode'],
  ])('of %j is refused', (body, text) => {
    expect(refusedBody(c.createLead, body).text).toBe(text);
  });

  test('of invalid UTF-8 is refused', () => {
    const bytes = Buffer.concat([json('{"first_name":"'), Buffer.from([0xc3, 0x28]), json('"}')]);
    expect(refused(() => parseBody(c.createLead, bytes)).text).toBe('the body must be valid UTF-8');
  });

  test.each(['[', '{"a":'])('nested with %s as deep as a body can hold is refused, not fatal', (open) => {
    const depth = Math.floor(500_000 / open.length);
    const close = open === '[' ? ']' : '}';
    const body = `{"payload":${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}}`;
    expect(refusedBody(c.createTestEvent, body).text).toBe(
      'payload must not be nested deeper than 64 levels',
    );
  });

  test('may be left out if nothing in it is required', () => {
    expect(parseBody(c.rotateSubscriptionSecret, json(''))).toEqual({});
    expect(parseBody(c.testSubscription, json(''))).toEqual({ useSamplePayload: true });
    expect(refusedBody(c.createLead, '').fields).toEqual(['first_name', 'last_name', 'email']);
  });

  test('of an operation without a body is ignored', () => {
    expect(parseBody(c.deleteSubscription, json('{"oops'))).toEqual({});
  });

  test('with a field of another operation is refused with the operation that takes the field', () => {
    expect(refusedBody(c.createClient, { ...person, package_keyword: 'pro' })).toMatchObject({
      text: 'unknown field: package_keyword; only POST /integrations/leads takes it',
      fields: ['package_keyword'],
    });
  });

  const whole = { ...person, external_id: 'x' };
  const subscription = { url: 'https://a.example/', eventTypes: ['lead.created'] };
  test.each<[string, unknown, (typeof keyOperations)[number]]>([
    ['required', { ...whole, email: ' ' }, c.createLead],
    ['required', { ...whole, email: undefined }, c.createLead],
    ['required', { email: null }, c.updateLead],
    ['required', { ...subscription, eventTypes: [] }, c.createSubscription],
    ['required', { status_note: 'x' }, c.updateLeadStatus],
    ['unknown_field', { ...whole, foo: 1 }, c.createLead],
    ['too_long', { ...whole, zip: 'x'.repeat(17) }, c.createLead],
    ['too_long', { ...subscription, url: `https://a.example/${'x'.repeat(500)}` }, c.createSubscription],
    ['too_long', { ...subscription, eventTypes: Array(101).fill('lead.created') }, c.createSubscription],
    ['invalid_characters', { ...whole, first_name: 'a\u0007b' }, c.createLead],
    ['invalid_characters', { ...subscription, url: 'nonsense' }, c.createSubscription],
    ['email_invalid', { ...whole, email: 'nobody' }, c.createLead],
    ['phone_invalid', { ...whole, phone: '12' }, c.createLead],
    ['wrong_kind', { ...whole, zip: 7 }, c.createLead],
    ['wrong_kind', { ...whole, affiliate_id: '7' }, c.createLead],
    ['wrong_kind', { ...whole, status: true }, c.createLead],
    ['wrong_kind', '[]', c.createLead],
    ['out_of_range', { ...whole, affiliate_id: 0 }, c.createLead],
    ['out_of_range', `{"commission_rate":12.50000000000000000001}`, c.updateAffiliate],
    ['out_of_range', { ...person, commission_rate: 1.005 }, c.createAffiliate],
    ['out_of_range', { overlapHours: 73 }, c.rotateSubscriptionSecret],
    ['out_of_range', { ...subscription, eventTypes: ['x'] }, c.createSubscription],
    ['not_json', '{"a":', c.createLead],
    ['must_agree', '{"a":1,"a":2}', c.createLead],
    ['empty_update', {}, c.updateLead],
  ])('has the code %s for %j', (code, body, operation) => {
    expect(refusedBody(operation, body).codes[0]).toBe(code);
  });

  test('of a create treats null and blanks as absent', () => {
    const blank = { phone: '', city: '  ', external_id: '\u200b', affiliate_id: null, status: ' ' };
    expect(parseBody(c.createClient, json({ ...person, ...blank }))).toEqual(person);
    const note = { text: 'x', note_type: '', visibility: null };
    expect(parseBody(c.addClientNote, json(note), ['5'])).toEqual({ text: 'x' });
    const test = { eventType: '', statusOverride: '', useSamplePayload: null };
    expect(parseBody(c.testSubscription, json(test), ['5'])).toEqual({ useSamplePayload: true });
    expect(refusedBody(c.createLead, { ...person, email: null, first_name: ' ' })).toMatchObject({
      text: 'first_name is required',
      fields: ['first_name', 'email'],
    });
    expect(refusedBody(c.createLead, { ...person, employee: null }).text).toBe('unknown field: employee');
  });

  test('treats null or a blank beside its alternative as absent', () => {
    const of = (body: object) => parseBody(c.updateClientStatus, json(body), ['5']);
    expect(of({ new_status: 'Client - Paused', new_status_id: null }).new_status).toEqual({
      name: 'Client - Paused',
    });
    expect(of({ new_status: '', new_status_id: 21 }).new_status_id).toEqual({ id: 21 });
    for (const body of [{}, { new_status: null }, { new_status: ' ', new_status_id: null }])
      expect(refusedBody(c.updateClientStatus, body, ['5']).text).toBe(
        'new_status or new_status_id is required',
      );
  });

  test('gets problems of every kind at once, each field once', () => {
    const body = `{"foo":1,"first_name":7,"last_name":"\u200b","zip":"${'9'.repeat(17)}","city":"a","city":5}`;
    expect(refusedBody(c.createLead, body)).toMatchObject({
      text: 'unknown field: foo',
      fields: ['foo', 'city', 'first_name', 'last_name', 'email', 'zip'],
    });
    const status = { new_stat: 1, changed_by_employee_id: 'x', status_note: 5 };
    expect(refusedBody(c.updateLeadStatus, status, ['5']).fields).toEqual([
      'new_stat',
      'changed_by_employee_id',
      'status_note',
      'new_status',
    ]);
    expect(refusedQuery(c.findClients, 'emial=a%40b.co').fields).toEqual(['emial', 'email']);
  });
});

test('a key with escapes is read as it is, whatever was parsed before', () => {
  // V8 would make a backslash of the second one, in whichever text of the process.
  for (const key of ['\\', '"', '\n', '"\\', '\\"', 'a"', 'a\\']) {
    const payload = { h: 1, [key]: { list: [{ [key]: 'a "text": \\' }], b: 2 }, z: 3 };
    expect(
      JSON.stringify(parseBody(c.createTestEvent, json({ type: 'lead.created', payload })).payload),
    ).toBe(JSON.stringify(payload));
  }
});

test('a number that a double does not hold is told to be sent as text only where text is taken', () => {
  const message = (operation: (typeof keyOperations)[number], text: string, params?: string[]) =>
    refused(() => parseBody(operation, Buffer.from(text), params)).text;
  for (const number of ['9007199254740993', '1e400', '123456789012345678901234567890'])
    expect(message(c.updateLead, `{"affiliate_id":${number}}`, ['5'])).toBe(
      'affiliate_id must be a positive integer',
    );
  expect(message(c.updateAffiliate, '{"commission_rate":12.50000000000000000001}', ['5'])).toBe(
    'commission_rate cannot be stored exactly as a number',
  );
  expect(message(c.createTestEvent, '{"type":"lead.created","payload":{"n":[9007199254740993]}}')).toBe(
    'payload.n[0] cannot be stored exactly as a number; send it as a string',
  );
});

test('a payload that is null is no payload left out', () => {
  for (const [operation, name] of [
    [c.createTestEvent, 'payload'],
    [c.testSubscription, 'samplePayload'],
  ] as const)
    expect(refusedBody(operation, { type: 'lead.created', [name]: null }).text).toMatch(
      /must be a JSON object|unknown field/,
    );
  expect(refusedBody(c.createTestEvent, { type: 'lead.created', payload: null }).text).toBe(
    'payload must be a JSON object',
  );
});

test('a time may be written as RFC 3339 and Python do; a + that became a blank is named', () => {
  const since = (text: string) => parseQuery(c.listMissingEvents, `since=${text}`).since?.toISOString();
  for (const text of [
    '2026-01-15T22:03:31%2B05:30',
    '2026-01-15t22:03:31%2b0530',
    '2026-01-15T16:33:31z',
    '2026-01-15T16:33:31.000%2B00',
    '2026-01-15T16:33:31-00:00',
    '2026-01-15t11:33:31-0500',
    '2026-01-15T11:33:31-05',
  ])
    expect(since(text), text).toBe('2026-01-15T16:33:31.000Z');
  for (const text of ['1998-12-31T23:59:60Z', '1998-12-31t15:59:60.123-08:00', '1999-01-01T05:29:60%2B0530'])
    expect(since(text), text).toBe('1998-12-31T23:59:59.999Z');
  const plain = 'since must be an ISO 8601 time with its offset';
  for (const text of ['2026-01-15T22:03:31+05:30', '2026-01-15T22:03:31+0530', '2026-01-15T22:03:31+05'])
    expect(refusedQuery(c.listMissingEvents, `since=${text}`).text).toBe(
      `${plain}; in a URL, its + must be %2B`,
    );
  for (const text of [
    '2026-01-15',
    '2026-01-15T22:03:31',
    'now',
    '2026-01-15T22:03:31%2B5',
    '1998-12-31T22:59:60Z',
    '1998-12-31T23:58:60Z',
    '1998-13-31T23:59:60Z',
    '1998-12-31T23:59:61Z',
  ])
    expect(refusedQuery(c.listMissingEvents, `since=${text}`).text).toBe(plain);
});

describe("an update's body", () => {
  test('must set a field', () => {
    for (const body of [{}, { client_id: 5 }])
      expect(refusedBody(c.updateLead, body, ['5']).text).toBe('no field to change');
    expect(refusedBody(c.updateAffiliate, { employee_id: 5 }, ['5']).text).toBe('no field to change');
    expect(refusedBody(c.updateSubscription, {}, ['5']).text).toBe('no field to change');
  });

  test('without a field that is known gets no further problem', () => {
    expect(refusedBody(c.updateLead, { nickname: 'Kat' }, ['5']).fields).toEqual(['nickname']);
  });

  test("may repeat the path's id, which is not part of the result", () => {
    expect(parseBody(c.updateLead, json({ client_id: 5, city: 'Graz' }), ['5'])).toEqual({ city: 'Graz' });
    expect(parseBody(c.updateAffiliate, json({ employee_id: 5, is_active: false }), ['5'])).toEqual({
      is_active: false,
    });
  });

  test("must not have another id than the path's", () => {
    expect(refusedBody(c.updateLead, { client_id: 6, city: 'Graz' }, ['5']).text).toBe(
      'client_id must equal the one in the path',
    );
    expect(refusedBody(c.updateLead, { client_id: '5', city: 'Graz' }, ['5'])).toMatchObject({
      text: 'client_id must equal the one in the path',
      fields: ['client_id'],
    });
    expect(refusedBody(c.updateSubscription, { id: 6, enabled: true }, ['5'])).toMatchObject({
      text: 'id must equal the one in the path',
      fields: ['id'],
    });
    expect(refusedBody(c.rotateSubscriptionSecret, { id: 6 }, ['5'])).toMatchObject({
      text: 'unknown field: id',
      fields: ['id'],
    });
  });

  test('keeps employee_id as a field if the path names the client', () => {
    expect(parseBody(c.updateClient, json({ employee_id: 7 }), ['5'])).toEqual({ employee_id: 7 });
  });

  test('clears an optional field with null or a blank, never a required one', () => {
    for (const empty of ['', ' ', null]) {
      expect(parseBody(c.updateClient, json({ phone: empty, external_id: empty }), ['5'])).toEqual({
        phone: null,
        external_id: null,
      });
      expect(parseBody(c.updateSubscription, json({ name: empty }), ['5'])).toEqual({ name: null });
      for (const name of ['first_name', 'last_name', 'email'])
        expect(refusedBody(c.updateClient, { [name]: empty }, ['5']).text).toBe(`${name} is required`);
    }
    expect(refusedBody(c.updateAffiliate, { is_active: null }, ['5']).text).toBe(
      'is_active must not be null',
    );
  });
});

test('a missing record is named in the text of the 404', () => {
  expect(refused(() => parseId('0', 'lead'))).toMatchObject({ code: 'not_found', text: 'lead not found' });
});

const read = (text: string) => readBatch(c.batchLeads, { query: '', body: Buffer.from(text) });

const item = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const batchOf = (...items: readonly unknown[]) => JSON.stringify({ mode: 'create', items });

describe('readBatch', () => {
  test('judges the batch and not its items', () => {
    const { body, items } = read(batchOf(item, {}, { email: 7 }));
    expect(body).toMatchObject({ mode: 'create', invalid: 'refuse' });
    expect(items.map(({ fields }) => fields)).toEqual([item, {}, { email: 7 }]);
    expect(items.flatMap(({ problems }) => problems)).toEqual([]);
  });

  test.each([
    ['{"items":[{}]}', 'mode', 'required'],
    [JSON.stringify({ mode: 'merge', items: [{}] }), 'mode', 'out_of_range'],
    [JSON.stringify({ mode: 'create', invalid: 'drop', items: [{}] }), 'invalid', 'out_of_range'],
    [JSON.stringify({ mode: 'create', items: [{}], also: 1 }), 'also', 'unknown_field'],
    [JSON.stringify({ mode: 'create' }), 'items', 'required'],
    [batchOf(), 'items', 'required'],
    [batchOf(...Array(101).fill({})), 'items', 'too_long'],
    [batchOf({}, 5), 'items[1]', 'wrong_kind'],
    [batchOf({}, []), 'items[1]', 'wrong_kind'],
    [batchOf(null), 'items[0]', 'required'],
    ['{"mode":"create","items":[1e999]}', 'items[0]', 'wrong_kind'],
    ['{"mode":"create","mode":"create","items":[{}]}', 'mode', 'must_agree'],
  ])('%s: %s %s', (text, field, code) => {
    expect(refused(() => read(text))).toMatchObject({ fields: [field], codes: [code] });
  });

  test('what the text of an item breaks belongs to that item', () => {
    const { items } = read(
      `{"mode":"create","items":[{},{"city":"a","city":"b","deep":{"n":1e999}},{"__proto__":{"mode":1}}]}`,
    );
    expect(items.map(({ problems }) => problems)).toEqual([
      [],
      [
        { field: 'city', code: 'must_agree', message: 'city must be given only once' },
        {
          field: 'deep.n',
          code: 'out_of_range',
          message: 'deep.n cannot be stored exactly as a number',
        },
      ],
      [{ field: '__proto__', code: 'invalid_characters', message: '__proto__ is not an allowed key' }],
    ]);
  });

  test('with more problems than are noted, no item passes unjudged', () => {
    const twice = '{"city":"a","city":"b"}';
    const text = `{"mode":"create","items":[${Array(100).fill(twice).join(',')}]}`;
    expect(refused(() => read(text)).fields).toHaveLength(maxDetails);
  });
});

describe('an operator', () => {
  const parsedBody = (operation: Operation, body: unknown) => parseBody(operation, json(body));

  test('a key needs a company, a name and known scopes, which are kept once and in order', () => {
    const key = { company_id: 1001, name: 'Zapier' };
    expect(parsedBody(c.createKey, { ...key, scopes: ['admin', 'events:read', 'admin'] })).toEqual({
      ...key,
      scopes: ['events:read', 'admin'],
    });
    expect(refusedBody(c.createKey, { ...key, scopes: [] }).text).toMatch(/^at least one scope is required/);
    expect(refusedBody(c.createKey, { ...key, scopes: ['everything'] }).text).toMatch(
      /^scopes\[0\] must be one of /,
    );
    expect(refusedBody(c.createKey, { ...key, company_id: '1001', scopes: ['admin'] }).text).toBe(
      'company_id must be a positive integer',
    );
  });

  test('limits are set on exactly one company or key, and null resets one', () => {
    expect(parsedBody(c.setLimits, { id: 7, read: 500, write: null })).toEqual({
      id: 7,
      read: 500,
      write: null,
    });
    expect(refusedBody(c.setLimits, { read: 5 }).text).toBe('either company_id or id (of a key) is required');
    expect(refusedBody(c.setLimits, { company_id: 1, id: 2, read: 5 }).text).toBe(
      'either company_id or id (of a key) is required',
    );
    expect(refusedBody(c.setLimits, { company_id: 1 }).text).toBe(
      'at least one of read, write, admin and lookup is required',
    );
    for (const read of [0, -1, 1.5, '60', 1e12])
      expect(refusedBody(c.setLimits, { company_id: 1, read }).text).toBe(
        'read must be a positive integer, or null for the default',
      );
  });

  test("a portal owner's password is not changed, and must be long", () => {
    const owner = { company_id: 1001, email: 'owner@example.com' };
    expect(parsedBody(c.createPortalOwner, { ...owner, password: '  twelve chars ' })).toMatchObject({
      password: '  twelve chars ',
    });
    expect(refusedBody(c.createPortalOwner, { ...owner, password: 'short' }).text).toBe(
      'password must be at least 12 characters',
    );
    expect(
      refusedBody(c.createPortalOwner, { ...owner, email: 'owner', password: 'x'.repeat(12) }).text,
    ).toBe('email must be one valid email address');
  });
});
