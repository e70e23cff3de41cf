import { expect, test } from 'vitest';
import type { Json, Reply } from '../api/support/world.ts';
import { breaksSchema, createJudge, type Standing } from './judge.ts';
import type { MadeRequest } from './requests.ts';
import { readEndpoints } from './surface.ts';

// A fuzzer that finds nothing says something only where it would have found it.

const schema = (properties: Json, required: string[] = []) => ({ type: 'object', properties, required });
const content = (name: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
});
const endpoints = readEndpoints({
  paths: {
    '/api/v1/things/{id}': {
      patch: {
        operationId: 'updateThing',
        'x-scope': 'admin',
        requestBody: { content: content('Request') },
        responses: {
          200: {
            description: '',
            headers: { 'X-RateLimit-Limit': { required: true } },
            content: content('Thing'),
          },
          204: { description: '' },
          400: { description: '', content: content('Error') },
          401: { $ref: '#/components/responses/Unauthorized' },
          403: { description: '', content: content('Error') },
        },
      },
    },
  },
  components: {
    responses: { Unauthorized: { description: '', content: content('Error') } },
    schemas: {
      Request: { ...schema({ name: { type: 'string', maxLength: 3 } }), additionalProperties: false },
      Thing: schema({ id: { type: 'integer' }, at: { type: 'string', format: 'date-time' } }, ['id']),
      Error: schema({ error: { type: 'string' } }, ['error']),
    },
  },
});
const judge = createJudge({
  described: endpoints,
  base: '/api/v1/',
  asksFirst: true,
  storedProblems: /already in use/,
});

const headers = { 'x-request-id': 'a', 'content-type': 'application/json', 'x-ratelimit-limit': '1' };
const judged = (
  { status = 200, body = '{"id":1}', ...more }: { status?: number; body?: string } & Partial<Reply>,
  { standing = 'known', ...asked }: { standing?: Standing } & Partial<MadeRequest> = {},
) => {
  const made: MadeRequest = {
    endpoint: endpoints[0]!,
    method: 'PATCH',
    path: '/api/v1/things/7?x=1',
    headers: {},
    body: '{"name":"abc"}',
    changes: [],
    ...asked,
  };
  let json: Json;
  try {
    json = JSON.parse(body);
  } catch {}
  return judge(made, standing, { status, headers, text: body, json, ...more });
};

test('what is described is all right', () => {
  expect(judged({})).toBeUndefined();
  expect(judged({ body: '{"id":1,"at":"2026-01-15T09:30:00.000Z"}' })).toBeUndefined();
  expect(judged({ status: 204, body: '' })).toBeUndefined();
  expect(judged({ status: 400, body: '{"error":"no"}' }, { body: '{"name":7}' })).toBeUndefined();
  expect(judged({ status: 401, body: '{"error":"who"}' }, { standing: 'unknown' })).toBeUndefined();
  expect(judged({ status: 403, body: '{"error":"no"}' }, { standing: 'unscoped' })).toBeUndefined();
  expect(judged({ status: 405, body: '{"error":"no"}' }, { method: 'PUT' })).toBeUndefined();
  expect(judged({ status: 404, body: '{"error":"no"}' }, { path: '/api/v1/things' })).toBeUndefined();
  expect(judged({}, { body: '{"name":"  abc "}' })).toBeUndefined();
  expect(judged({ status: 400, body: '{"error":"name is already in use"}' })).toBeUndefined();
});

test.each<[string, ReturnType<typeof judged>, RegExp]>([
  ['a 500', judged({ status: 500, body: '{"error":"x"}' }), /unexpected failure/],
  ['a status', judged({ status: 202 }), /status that is not described/],
  ['a field too many', judged({ body: '{"id":1,"more":2}' }), /not as described/],
  ['a field too few', judged({ body: '{}' }), /not as described/],
  ['a wrong type', judged({ body: '{"id":"1"}' }), /not as described/],
  ['a time that is none', judged({ body: '{"id":1,"at":"yesterday"}' }), /not as described/],
  ['no JSON', judged({ body: '<html>' }), /no JSON/],
  ['a body with a 204', judged({ status: 204, body: 'x' }), /body where none/],
  ['a body of HEAD', judged({}, { method: 'HEAD' }), /not described/],
  ['no request id', judged({ headers: { ...headers, 'x-request-id': undefined } }), /X-Request-Id/],
  [
    'a header that is missing',
    judged({ headers: { ...headers, 'x-ratelimit-limit': undefined } }),
    /no header/,
  ],
  ['a content type', judged({ headers: { ...headers, 'content-type': 'text/html' } }), /content type/],
  ['a stack', judged({ status: 400, body: '{"error":"Error: x at f (a.ts:1)"}' }), /inside/],
  ['a way in without a key', judged({}, { standing: 'unknown' }), /without being known/],
  [
    'paths that strangers are told',
    judged({ status: 404, body: '{"error":"no"}' }, { standing: 'unknown', path: '/api/v1/x' }),
    /without being known/,
  ],
  ['a way in without the scope', judged({}, { standing: 'unscoped' }), /without the scope/],
  ['an unknown path that answers', judged({}, { path: '/api/v1/other' }), /operation that is not described/],
  ['an unknown method that answers', judged({}, { method: 'PUT' }), /operation that is not described/],
  ['a body that should be refused', judged({}, { body: '{"name":"abcd"}' }), /schema forbids/],
  ['a refusal of what is allowed', judged({ status: 400, body: '{"error":"no"}' }), /refused what/],
  ['a body that is no JSON', judged({}, { body: '{' }), /schema forbids/],
  ['bytes that are no text', judged({}, { body: Buffer.of(0x7b, 0xff, 0x7d) }), /schema forbids/],
])('%s is noticed', (_, verdict, expected) => {
  expect(verdict).toMatch(expected);
});

test('a blank is read as null, and null as absent only where something is created', () => {
  const endpoint = endpoints[0]!;
  const breaks = (method: string, body: object) =>
    breaksSchema({
      endpoint: { ...endpoint, method },
      method,
      path: '/api/v1/things/7',
      headers: {},
      body: JSON.stringify(body),
      changes: [],
    });
  expect(breaks('POST', { name: null })).toBe(false);
  expect(breaks('PATCH', { name: null })).toBe(true);
  expect(breaks('POST', { name: 7 })).toBe(true);
  expect(breaks('PATCH', { name: ' ' })).toBe(false);
  expect(breaks('PATCH', { name: '\u202e' })).toBe(false);
});
