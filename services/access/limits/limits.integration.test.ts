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

test('limits of a company reach the gateways; absent ones stay, null resets one', async () => {
  const name = companyEntryName(company_id);
  expect((await table.get(name))?.json()).toEqual({ version: 1 });
  expect(await ask('setLimits', { company_id, read: 600, admin: 20 })).toEqual({
    status: 200,
    body: { company_id, limits: { read: 600, write: null, admin: 20, lookup: null } },
  });
  expect((await table.get(name))?.json()).toEqual({ version: 2, limits: { read: 600, admin: 20 } });
  await ask('setLimits', { company_id, read: null });
  expect((await table.get(name))?.json()).toEqual({ version: 3, limits: { admin: 20 } });
  await ask('setLimits', { company_id, admin: null });
  expect((await table.get(name))?.json()).toEqual({ version: 4 });
});

test('limits of one key do not change those of its company', async () => {
  const { body: key } = await ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  expect(await ask('setLimits', { id: key.id, write: 7 })).toEqual({
    status: 200,
    body: { company_id, id: key.id, limits: { read: null, write: 7, admin: null, lookup: null } },
  });
  expect((await table.get(keyEntryName(hashKeyValue(key.value))))?.json()).toMatchObject({
    version: 2,
    active: true,
    limits: { write: 7 },
  });
});

test('a limit for lookups is set per company and per key, and reaches the gateways', async () => {
  const { body: key } = await ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  expect((await ask('setLimits', { company_id, lookup: 200 })).body.limits.lookup).toBe(200);
  expect((await ask('setLimits', { id: key.id, lookup: 30 })).body.limits.lookup).toBe(30);
  expect((await table.get(companyEntryName(company_id)))?.json()).toMatchObject({ limits: { lookup: 200 } });
  expect((await table.get(keyEntryName(hashKeyValue(key.value))))?.json()).toMatchObject({
    limits: { lookup: 30 },
  });
  await ask('setLimits', { company_id, lookup: null });
});

test('setting limits of a revoked key does not reactivate it', async () => {
  const { body: key } = await ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  await ask('revokeKey', { id: key.id });
  await ask('setLimits', { id: key.id, read: 5 });
  expect((await table.get(keyEntryName(hashKeyValue(key.value))))?.json()).toMatchObject({
    version: 3,
    active: false,
  });
});

test('limits of a company or a key that does not exist answer 404', async () => {
  expect(await ask('setLimits', { company_id: 5, read: 1 })).toEqual({
    status: 404,
    body: { error: 'company not found' },
  });
  expect(await ask('setLimits', { id: 999_999, read: 1 })).toEqual({
    status: 404,
    body: { error: 'key not found' },
  });
});
