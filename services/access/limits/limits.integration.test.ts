import { hashKeyValue } from '@causeway/identity';
import { companyEntryName, keyEntryName } from '@causeway/proto';
import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const table = await world.openTable();
const { body: company } = await ask('createCompany', { name: 'Acme' });
const { company_id } = company;

test('setting limits of a revoked key does not reactivate it', async () => {
  const { body: key } = await ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  await ask('revokeKey', { id: key.id });
  await ask('setLimits', { id: key.id, read: 5 });
  expect((await table.get(keyEntryName(hashKeyValue(key.value))))?.json()).toMatchObject({
    version: 3,
    active: false,
  });
});

test('limits until a time stand beside the others, for the company alone, and can be ended', async () => {
  const { body: other } = await ask('createCompany', { name: 'Import' });
  const name = companyEntryName(other.company_id);
  const set = (body: object) => ask('setLimits', { company_id: other.company_id, ...body });
  await set({ read: 90 });
  const until = new Date(Date.now() + 3_600_000);
  const untilMs = Math.ceil(until.getTime() / 60_000) * 60_000;
  expect(await set({ write: 2000, until: until.toISOString() })).toEqual({
    status: 200,
    body: {
      company_id: other.company_id,
      limits: { read: 90, write: null, admin: null, lookup: null },
      temporary: { until: new Date(untilMs).toISOString(), limits: { write: 2000 } },
    },
  });
  const entry = { limits: { read: 90 }, temporary: { untilMs, limits: { write: 2000 } } };
  expect((await table.get(name))?.json()).toEqual({ version: 3, ...entry });
  for (const [refused, error] of [
    [{ write: 5, until: new Date().toISOString() }, 'until must be in the future, and at most 31 days away'],
    [{ write: 5, until: '2999-01-01T00:00:00Z' }, 'until must be in the future, and at most 31 days away'],
    [{ until: until.toISOString() }, 'at least one of read, write, admin and lookup is required'],
    [{ write: null, until: until.toISOString() }, 'a limit until a time must be a number'],
    [{ write: 5, until: null }, 'until: null takes no limits'],
    [{ write: 5, until: 'soon' }, 'until must be a time in ISO 8601, or null to end it'],
  ] as const)
    expect(await set(refused)).toMatchObject({ status: 400, body: { error } });
  const ofKey = await ask('setLimits', { id: 1, write: 5, until: until.toISOString() });
  expect(ofKey.body.error).toBe('until is for a company, not for a key');
  expect((await table.get(name))?.json()).toEqual({ version: 3, ...entry });
  await set({ until: null });
  expect((await table.get(name))?.json()).toEqual({ version: 4, limits: { read: 90 } });
});
