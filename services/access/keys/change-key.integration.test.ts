import { hashKeyValue } from '@causeway/identity';
import { isRefusal, type KeyEntry, keyEntryName } from '@causeway/proto';
import { randomHex } from '@causeway/runtime';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { browserOf, openPortal } from '../testing/boot.ts';

const { world, send, newOwner } = await openPortal();
const { browser: owner } = await newOwner();

const table = await world.openTable();
const nameOf = (value: string) => keyEntryName(hashKeyValue(value));
const entryOf = async (value: string) => (await table.get(nameOf(value)))!.json<KeyEntry>();
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test('no later expiry revives a key that has expired and is not revoked yet', async () => {
  const { id } = await owner.ask('createApiKey', {
    ...{ name: 'Zapier', scopes: ['admin'], expiresUtc: inDays(1) },
  });
  await world.database.query(
    'UPDATE api_keys SET expires_utc = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE id = ?',
    [id],
  );
  for (const body of [{ expiresUtc: inDays(9) }, { expiresUtc: null }, { note: 'mine' }]) {
    expect((await owner.ask('updateApiKey', body, [String(id)])).status).toBe(409);
  }
});

const makeKey = () => owner.ask('createApiKey', { name: 'Zapier', scopes: ['integrations:read'] });
const rotate = (id: number, graceHours: number) => owner.ask('rotateApiKey', { graceHours }, [String(id)]);

test('of the old secret, a release that knows no rotation reads a refusal, and this one where it admits', async () => {
  const { id, value } = await makeKey();
  const rotated = await rotate(id, 1);
  expect(await entryOf(rotated.value)).toMatchObject({ id, active: true, scopes: ['integrations:read'] });
  const old = await entryOf(value);
  expect(old).toMatchObject({ id, active: false, replacedBy: { name: nameOf(rotated.value) } });
  expect(old.replacedBy!.untilMs).toBe(Date.parse(rotated.previous.untilUtc));
  await owner.ask('endKeyRotation', { keep: 'new' }, [String(id)]);
  expect(isRefusal(await entryOf(value))).toBe(true);
});

test('a process that dies between the commit and the announcement leaves what another one completes', async () => {
  const { id, value } = await makeKey();
  const { id: otherId, value: otherValue } = await makeKey();
  const unannounced = 'unannounced'.padEnd(40, 'x');
  const hash = Buffer.from(hashKeyValue(unannounced), 'base64url');
  await world.database.query(
    `UPDATE api_keys SET previous_hash = key_hash, previous_last4 = last4, key_hash = ?, last4 = 'xxxx', previous_active = 1,
      previous_until_utc = UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, version = version + 1 WHERE id = ?`,
    [hash, id],
  );
  await world.startAccess();
  expect(await entryOf(unannounced)).toMatchObject({ id, active: true });
  expect(await entryOf(value)).toMatchObject({ active: false, replacedBy: { name: nameOf(unannounced) } });
  expect(await entryOf(otherValue)).toMatchObject({ id: otherId, active: true, version: 1 });
  // The answer was lost: the new secret is given up, and the next rotation works.
  expect((await rotate(id, 1)).status).toBe(409);
  expect((await owner.ask('endKeyRotation', { keep: 'old' }, [String(id)])).status).toBe(200);
  expect(await entryOf(value)).toMatchObject({ id, active: true });
  expect(isRefusal(await entryOf(unannounced))).toBe(true);
  const again = await rotate(id, 1);
  expect(await entryOf(again.value)).toMatchObject({ id, active: true });
  expect(await entryOf(value)).toMatchObject({ replacedBy: { name: nameOf(again.value) } });
});

test('a database from before a rotation does not admit a secret again that had ended', async () => {
  const { id, value } = await makeKey();
  const before = await world.database.query<Record<string, unknown>>('SELECT * FROM api_keys WHERE id = ?', [
    id,
  ]);
  const rotated = await rotate(id, 0);
  const { key_hash, last4 } = before[0]!;
  await world.database.query(
    'UPDATE api_keys SET key_hash = ?, last4 = ?, version = 1, previous_hash = NULL, previous_until_utc = NULL WHERE id = ?',
    [key_hash, last4, id],
  );
  await world.startAccess();
  expect(isRefusal(await entryOf(value))).toBe(true);
  expect(isRefusal(await entryOf(rotated.value))).toBe(true);
});

test('two rotations at once give the key one new secret', async () => {
  const { id, value } = await makeKey();
  const both = await Promise.all([rotate(id, 1), rotate(id, 1)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const ended = await Promise.all([rotate(id, 0), rotate(id, 0), rotate(id, 0)]);
  const values = ended.filter(({ status }) => status === 200).map((made) => made.value as string);
  const entries = await Promise.all(
    [value, ...both.flatMap((made) => made.value ?? []), ...values].map((one) => entryOf(one)),
  );
  expect(entries.filter((entry) => !isRefusal(entry))).toHaveLength(1);
});

test('a change that is based on an old value is refused, with the stored value, and another field is not', async () => {
  const { id } = await makeKey();
  const change = (body: object) => owner.ask('updateApiKey', body, [String(id)]);
  const basedOn = {
    name: 'Zapier',
    note: null,
    scopes: ['integrations:read'],
    networks: [],
    expiresUtc: null,
  };
  const scopes = ['integrations:write', 'integrations:read'];
  const mine = { scopes, networks: ['203.0.113.5'], expiresUtc: inDays(3) };
  const theirs = { scopes: ['admin'], networks: ['10.0.0.0/8'], expiresUtc: inDays(5) };
  expect((await change({ ...theirs, basedOn })).status).toBe(200);
  const refused = await change({ ...mine, basedOn });
  expect([refused.status, refused.changed]).toEqual([409, theirs]);
  expect(await change({ note: 'Mine', basedOn })).toMatchObject({ status: 200, ...theirs, note: 'Mine' });
  // The answer was lost, and the form is sent again.
  expect((await change({ ...theirs, basedOn })).status).toBe(200);
  expect((await change({ ...mine, basedOn: theirs })).status).toBe(200);
});

test('a create that knows of the keys of its name makes one, however often and wherever it is sent', async () => {
  const create = (sameName: number) =>
    owner.ask('createApiKey', { name: 'Once', scopes: ['admin'], basedOn: { sameName } });
  const all = await Promise.all(Array.from({ length: 5 }, () => create(0)));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
  const made = all.find(({ status }) => status === 201)!;
  expect((await create(1)).status).toBe(201);
  expect((await create(1)).status).toBe(409);
  await owner.ask('revokeApiKey', undefined, [String(made.id)]);
  expect((await create(1)).status).toBe(201);
});

test('a key whose creation failed after its commit ends, and the same request makes another', async () => {
  const { streams } = await jetstreamManager((await world.openBus('observer')).nc);
  // As the gateway sends a form again, with the same `Idempotency-Key`.
  const sent = { callId: `0${randomHex(16).slice(1)}`, idempotencyKey: 'the-form' };
  const form = browserOf((operation, request) =>
    send(operation, { ...request, ...(operation === 'createApiKey' && sent) }),
  );
  form.setToken(owner.token());
  const create = () => form.ask('createApiKey', { name: 'Again', scopes: ['admin'] });
  await streams.update('KV_keys', { max_msg_size: 1 });
  expect((await create()).status).toBe(503);
  const { keys } = await owner.ask('listApiKeys', undefined, [], 'q=Again');
  expect(keys).toMatchObject([{ isActive: false }]);
  await streams.update('KV_keys', { max_msg_size: -1 });
  const made = await create();
  expect(made).toMatchObject({ status: 201, isActive: true });
  expect(made.id).not.toBe(keys[0].id);
  expect(await create()).toMatchObject({ status: 201, id: made.id, value: made.value });
});
