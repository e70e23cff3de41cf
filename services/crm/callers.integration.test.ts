import { hashKeyValue } from '@causeway/identity';
import { type CallKey, keyEntryName } from '@causeway/proto';
import type { LaneCall } from '@causeway/runtime';
import { testLane } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';

const { bus, callers } = await bootCrm();
const [mine, theirs] = [1001, 1002];

/** A gateway that was taken over. */
const lane = testLane(bus, 'crm');
const send = async (key: CallKey | undefined, fields: Partial<LaneCall> = {}) => {
  const call = { operation: 'listClientStatuses', tenant: mine, caller: 1, ...(key && { key }), ...fields };
  return (await lane(call)).status;
};
const address = '203.0.113.9';

test('a compromised gateway cannot act for a company without one of its active keys', async () => {
  expect(await send(undefined)).toBe(401);
  expect(await send({ proof: hashKeyValue('made up'), address })).toBe(401);
  expect(await send(await callers.key(theirs))).toBe(401);
  // Every gateway can read the entry names of the key table.
  expect(await send({ proof: keyEntryName((await callers.key(mine)).proof).slice(4), address })).toBe(401);
  // A member's call: crm has no operations for members.
  const user = { id: 1, sessionId: 1, email: 'a@example.com', name: 'A', role: 'owner' } as const;
  const actor = { user, address, userAgent: '', proof: callers.session(mine, user) };
  expect(await send(undefined, { actor })).toBe(401);
  // Under the id of another key.
  expect(await send(await callers.key(mine), { caller: 2 })).toBe(401);
  expect(await send(await callers.key(mine, { active: false }))).toBe(401);
});

test('a key without the scope of the operation is refused', async () => {
  const key = await callers.key(mine, { scopes: ['integrations:read'] });
  expect(await send(key)).toBe(200);
  const body = Buffer.from(JSON.stringify({ first_name: 'Ann', last_name: 'Lee' }));
  expect(await send(key, { operation: 'createLead', body })).toBe(403);
});

test('in one batch, only the calls without a proof are refused', async () => {
  const key = await callers.key(mine);
  expect(await Promise.all([send(key), send(undefined), send(await callers.key(theirs)), send(key)])).toEqual(
    [200, 401, 401, 200],
  );
});

test('a new key works at once', async () => {
  for (let at = 0; at < 20; at++) expect(await send(await callers.key(mine, { version: at + 2 }))).toBe(200);
});
