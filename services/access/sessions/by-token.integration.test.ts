import { type Actor, type Role, resolveSessionOperation, sessionTokenHeader } from '@causeway/proto';
import { expect, test } from 'vitest';
import { openPortal, testPassword as password } from '../testing/boot.ts';

// What an attacker with a gateway can do: send anything over its lane.

const { world, operator: ask, send } = await openPortal();

const here = { address: '203.0.113.7', userAgent: 'test' };

const owner = async (email: string) => {
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const { id } = (await ask('createPortalOwner', { company_id, email, password })).body;
  const signedIn = await send('signIn', { actor: { user: null, ...here }, body: { email, password } });
  const facts = JSON.parse(signedIn.body.toString());
  const token = signedIn.headers?.[sessionTokenHeader] ?? '';
  const as = (role: Role = 'owner') => ({ id, sessionId: facts.session.id as number, email, name: '', role });
  return { company: company_id as number, id: id as number, token, as };
};
const ada = await owner('ada@example.com');
const mallory = await owner('mallory@example.com');

const newKey = { name: 'of a thief', scopes: ['admin'] };
const keysOf = async (company_id: number): Promise<unknown[]> =>
  (await ask('listKeys', { company_id })).body.keys;

test('a member with a session may do what their role allows', async () => {
  const actor = { user: ada.as(), ...here, token: ada.token };
  const made = await send('createApiKey', { tenant: ada.company, actor, body: { ...newKey, name: 'ours' } });
  expect(made.status).toBe(201);
});

test.each<[string, () => Actor]>([
  ['shows no session', () => ({ user: ada.as(), ...here })],
  ['makes up a session', () => ({ user: ada.as(), ...here, token: 'a'.repeat(43) })],
  ["shows another company's", () => ({ user: ada.as(), ...here, token: mallory.token })],
  [
    "shows another company's, and its session",
    () => ({ user: { ...ada.as(), sessionId: mallory.as().sessionId }, ...here, token: mallory.token }),
  ],
])('a call that names a member and %s is refused', async (_, actor) => {
  const before = await keysOf(ada.company);
  for (const operation of ['createApiKey', 'listTeam', 'getSession', 'startTotp'] as const) {
    const answer = await send(operation, { tenant: ada.company, actor: actor(), body: newKey });
    expect([operation, answer.status]).toEqual([operation, 401]);
  }
  expect(await keysOf(ada.company)).toEqual(before);
});

test('a call acts in the company of its session, whatever company it names', async () => {
  const before = await keysOf(ada.company);
  const actor = { user: mallory.as(), ...here, token: mallory.token };
  expect((await send('createApiKey', { tenant: ada.company, actor, body: newKey })).status).toBe(401);
  expect(await keysOf(ada.company)).toEqual(before);
});

test('a call has the stored role, whatever role it names', async () => {
  await world.database.query("UPDATE portal_users SET role = 'viewer' WHERE id = ?", [mallory.id]);
  const actor = { user: mallory.as('owner'), ...here, token: mallory.token };
  expect((await send('createApiKey', { tenant: mallory.company, actor, body: newKey })).status).toBe(403);
  expect((await send('getSession', { tenant: mallory.company, actor })).status).toBe(200);
});

test('an ended session gives no access, even if a gateway kept its token', async () => {
  const actor = { user: ada.as(), ...here, token: ada.token };
  expect((await send('signOut', { tenant: ada.company, actor })).status).toBe(204);
  expect((await send('createApiKey', { tenant: ada.company, actor, body: newKey })).status).toBe(401);
  expect((await send(resolveSessionOperation, { body: { token: ada.token, passive: true } })).status).toBe(
    401,
  );
});
