import { expect, test } from 'vitest';
import { Problem } from './errors.ts';
import { contract } from './operations.ts';
import { parseCall, readCall } from './parse.ts';

const sent = (query: string, body: object) => ({
  query,
  body: Buffer.from(JSON.stringify(body)),
  params: [],
});
const operation = contract.createSubscription;
const right = { url: 'https://hooks.example.com/x', eventTypes: ['client.created'] };

const refusalOf = (query: string, body: object): Problem => {
  try {
    parseCall(operation, sent(query, body));
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('was not refused');
};

test('a call is parsed into a typed query and body', () => {
  expect(parseCall(operation, sent('', right)).body).toMatchObject({ ...right, enabled: true });
});

test('a refusal has all problems of the query and the body', () => {
  const { code, details } = refusalOf('foo=1', { url: 'nonsense' });
  expect(code).toBe('invalid_request');
  expect(details?.map(({ message }) => message)).toEqual([
    'unknown query parameter: foo',
    expect.stringMatching(/^invalid URL: it must be absolute/),
    'at least one event type is required',
  ]);
});

test('a call is refused for its query alone, and its body can still be read', () => {
  expect(refusalOf('foo=1', right).details).toHaveLength(1);
  const { query, body, problems } = readCall(operation, sent('foo=1', right));
  expect([query, body?.url, problems.length]).toEqual([undefined, right.url, 1]);
});

test('a refusal keeps the additional fields of a check', () => {
  const { extra } = refusalOf('', { ...right, eventTypes: ['nonesuch'] });
  expect(extra).toMatchObject({ hint: expect.stringContaining('client.created') });
});
