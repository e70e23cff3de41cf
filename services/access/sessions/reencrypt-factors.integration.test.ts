import { randomBytes } from 'node:crypto';
import { type KeyRing, openSecret, parseKeyRing, sealedWith, sealSecret } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { operatorOf, testPortal, testWorld } from '../testing/boot.ts';

const ring = (names: string): KeyRing => ({
  sealsWith: names.split(' ')[0]!,
  keys: new Map(names.split(' ').map((name) => [name, both.keys.get(name)!])),
});
const newKey = () => randomBytes(32).toString('base64');
const both = parseKeyRing(`old:${newKey()},new:${newKey()}`);

const worldWith = async (keyRing: KeyRing) => {
  const world = await testWorld();
  await world.startAccess({ portal: { ...testPortal, keyRing } });
  const ask = operatorOf(await world.openBus('operator'));
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const members = async (count: number, sealed: (at: number) => Buffer | null): Promise<void> => {
    const rows = Array.from({ length: count }, (_, at) => [
      ...[company_id, `member-${randomBytes(6).toString('hex')}@example.com`, 'x', 'viewer', new Date()],
      sealed(at),
    ]);
    await world.database.query(
      'INSERT INTO portal_users (company_id, email, password_hash, role, created_utc, totp_secret) VALUES ?',
      [rows],
    );
  };
  const stored = () =>
    world.database.query<{ totp_secret: Buffer }>(
      'SELECT totp_secret FROM portal_users WHERE totp_secret IS NOT NULL ORDER BY id',
    );
  return { company_id: company_id as number, ask, members, stored };
};

test('every second factor is re-encrypted with the first key, and the old key is no longer needed', async () => {
  const { company_id, ask, members, stored } = await worldWith(ring('new old'));
  const secret = (at: number) => `SECRET${at}`;
  await members(450, (at) =>
    at % 3 === 0 ? null : sealSecret(ring(at % 3 === 1 ? 'old' : 'new'), company_id, secret(at)),
  );
  const total = { calls: 0, checked: 0, resealed: 0, unopened: 0 };
  for (let after: number | null = 0; after !== null; total.calls++) {
    const { status, body } = await ask('reencryptFactors', { after });
    expect([status, body.key]).toEqual([200, 'new']);
    for (const name of ['checked', 'resealed', 'unopened'] as const) total[name] += body[name];
    after = body.next;
  }
  expect(total).toEqual({ calls: 3, checked: 300, resealed: 150, unopened: 0 });
  const opened = (await stored()).map((row) => openSecret(ring('new'), company_id, row.totp_secret));
  expect(opened).toEqual(
    Array.from({ length: 450 }, (_, at) => at)
      .filter((at) => at % 3 > 0)
      .map(secret),
  );
});

test('a factor whose key is not in the ring is counted and left unchanged', async () => {
  const { company_id, ask, members, stored } = await worldWith(ring('new'));
  await members(2, (at) => sealSecret(ring(at === 0 ? 'old' : 'new'), company_id, 'SECRET'));
  const { body } = await ask('reencryptFactors', {});
  expect(body).toEqual({ key: 'new', checked: 2, resealed: 0, unopened: 1, next: null });
  expect((await stored()).map(({ totp_secret }) => sealedWith(totp_secret))).toEqual(['old', 'new']);
});
