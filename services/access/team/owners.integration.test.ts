import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const { body: company } = await ask('createCompany', { name: 'Acme' });
const { company_id } = company;
const password = 'correct horse battery';

test('an address is a member of a company only once, in any case, and may be a member of others too', async () => {
  const { body: other } = await ask('createCompany', { name: 'Other' });
  const create = (company: number, email: string) =>
    ask('createPortalOwner', { company_id: company, email, password });
  expect((await create(company_id, 'grace@example.com')).status).toBe(201);
  const again = await create(company_id, 'GRACE@example.com');
  expect([again.status, again.body.error]).toEqual([400, 'email is already a member of this company']);
  expect((await create(other.company_id, 'GRACE@example.com')).status).toBe(201);
  expect((await create(company_id, 'gráce@example.com')).status).toBe(201);
});
