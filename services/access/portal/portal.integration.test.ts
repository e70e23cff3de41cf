import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../test-world.ts';
import { verifyPassword } from './password.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const { body: company } = await ask('createCompany', { name: 'Acme' });
const { company_id } = company;
const password = 'correct horse battery';

test('an owner is stored with a hash that verifies', async () => {
  const { status, body } = await ask('createPortalOwner', { company_id, email: 'Ada@Example.com', password });
  expect({ status, body }).toEqual({
    status: 201,
    body: { id: expect.any(Number), company_id, email: 'Ada@Example.com' },
  });
  const [row] = await world.database.query<{ password_hash: string; role: string }>(
    'SELECT * FROM portal_users WHERE id = ?',
    [body.id],
  );
  expect(row?.role).toBe('owner');
  expect(await verifyPassword(password, row!.password_hash)).toBe(true);
});

test('one address is one person, however it is cased and whichever company asks', async () => {
  const { body: other } = await ask('createCompany', { name: 'Other' });
  await ask('createPortalOwner', { company_id, email: 'grace@example.com', password });
  const { status, body } = await ask('createPortalOwner', {
    company_id: other.company_id,
    email: 'GRACE@example.com',
    password,
  });
  expect(status).toBe(400);
  expect(body.error).toBe('email is already in use');
  expect(await ask('createPortalOwner', { company_id, email: 'gráce@example.com', password })).toMatchObject({
    status: 201,
  });
});

test('an owner of a company that does not exist is refused', async () => {
  const { status, body } = await ask('createPortalOwner', {
    company_id: 5,
    email: 'x@example.com',
    password,
  });
  expect({ status, body }).toEqual({ status: 404, body: { error: 'company not found' } });
});
