import { describe, expect, test } from 'vitest';
import { decodeAnswers, decodeCalls, encodeAnswers, encodeCalls } from './frame.ts';

const entry = (id: number, body: Buffer) => ({
  id,
  call: {
    operation: 'op',
    tenant: 1,
    caller: 2,
    requestId: 'ü-😀',
    traceparent: '',
    budgetMs: 5000,
    params: ['a', ''],
    query: 'x=1&y="\\',
    body,
  },
});

test('what is encoded is decoded the same, empty and binary bodies included', () => {
  const calls = [entry(1, Buffer.alloc(0)), entry(2, Buffer.from([0, 1, 255])), entry(3, Buffer.from('ä'))];
  expect(decodeCalls(encodeCalls(calls))).toEqual(calls);
  const answers = [
    { id: 1, answer: { status: 200, body: 'ä"' } },
    { id: 2, answer: { status: 204, body: null } },
    { id: 3, answer: { status: 200, body: Buffer.from([1, 0]), headers: { A: 'b' } } },
  ];
  expect(decodeAnswers(encodeAnswers(answers))).toEqual([
    { id: 1, answer: { status: 200, body: Buffer.from('ä"') } },
    { id: 2, answer: { status: 204, body: Buffer.alloc(0) } },
    { id: 3, answer: { status: 200, body: Buffer.from([1, 0]), headers: { A: 'b' } } },
  ]);
});

test('a call of the portal carries its actor, and one beside it carries none', () => {
  const actor = {
    user: { id: 7, sessionId: 3, email: 'ada@example.com', name: 'Ada', role: 'admin' },
    address: '203.0.113.7',
    userAgent: 'Ünit "test"',
  } as const;
  const [plain, portal] = [entry(1, Buffer.from('a')), entry(2, Buffer.from('b'))];
  const calls = [plain, { ...portal, call: { ...portal.call, actor } }];
  expect(decodeCalls(encodeCalls(calls))).toEqual(calls);
  const nobody = { ...actor, user: null };
  expect(decodeCalls(encodeCalls([{ ...portal, call: { ...portal.call, actor: nobody } }]))).toEqual([
    { ...portal, call: { ...portal.call, actor: nobody } },
  ]);
});

test('a call that may be sent again carries its name, with and without a caller', () => {
  const [plain, named] = [entry(1, Buffer.from('a')), entry(2, Buffer.from('b'))];
  const callId = '0199f3c2a5b07d1e4c8a6b2f90d3e517';
  const key = { proof: 'p', address: '203.0.113.7' };
  const calls = [
    plain,
    { ...named, call: { ...named.call, callId } },
    { ...named, call: { ...named.call, callId, again: true, key } },
    { ...named, call: { ...named.call, callId, idempotencyKey: 'order-7', key } },
  ];
  expect(decodeCalls(encodeCalls(calls))).toEqual(calls);
});

describe('what is not a frame is refused whole', () => {
  const frame = encodeCalls([entry(1, Buffer.from('hello')), entry(2, Buffer.from('world'))]);

  test('truncated at any byte', () => {
    for (let length = 0; length < frame.length; length++)
      expect(() => decodeCalls(frame.subarray(0, length)), `${length} bytes`).toThrow();
  });

  test('longer than its head says', () => {
    expect(() => decodeCalls(Buffer.concat([frame, Buffer.from('x')]))).toThrow(/longer/);
  });

  test('with a body length that is not one', () => {
    const head = JSON.stringify([[1, 'op', 1, 2, '', '', 1, [], '', -5]]);
    const bad = Buffer.concat([Buffer.alloc(4), Buffer.from(head)]);
    bad.writeUInt32LE(head.length, 0);
    expect(() => decodeCalls(bad)).toThrow(/truncated/);
  });
});
