import type { ResolvedSession } from '@causeway/proto';
import type { LaneClient } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { openSessions } from './sessions.ts';

const trace = { requestId: 'test', traceparent: '' };
const sessionOf = (id: number): ResolvedSession => ({
  companyId: 1001,
  user: { id, sessionId: id, email: `${id}@example.com`, name: '', role: 'viewer' },
  proof: 'signed',
});

/** Knows the tokens that are numbers. */
const sessionsOf = () => {
  const ended = new Set<string>();
  const lane = {
    request: async ({ body }: { body: Uint8Array }) => {
      const { token } = JSON.parse(Buffer.from(body).toString()) as { token: string };
      return ended.has(token)
        ? { status: 401, body: Buffer.alloc(0) }
        : { status: 200, body: Buffer.from(JSON.stringify(sessionOf(Number(token)))) };
    },
  } as unknown as LaneClient;
  return { ended, ...openSessions({ access: lane, crm: lane, webhooks: lane }) };
};

test('remembers the member of a token, without the proof, until access refuses the token', async () => {
  const { known, resolve, ended } = sessionsOf();
  expect(known('7')).toBeUndefined();
  expect(await resolve('7', trace, false)).toEqual(sessionOf(7));
  const { proof: _, ...member } = sessionOf(7);
  expect(known('7')).toEqual(member);
  ended.add('7');
  expect(await resolve('7', trace, false)).toBeNull();
  expect(known('7')).toBeUndefined();
});

test('forgets a token that access has refused in a call of its own', async () => {
  const { known, resolve, forget } = sessionsOf();
  await resolve('7', trace, false);
  forget('7');
  expect(known('7')).toBeUndefined();
});

test('keeps ten thousand members, and forgets the one that was resolved longest ago', async () => {
  const { known, resolve } = sessionsOf();
  for (let id = 0; id < 10_000; id++) await resolve(String(id), trace, false);
  await resolve('0', trace, false);
  await resolve('10000', trace, false);
  expect(['0', '1', '2', '10000'].map((token) => known(token)?.user.id)).toEqual([0, undefined, 2, 10_000]);
});
