import { createLog } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { deleteExpired } from './cleanup.ts';
import { operatorOf, testPortal, testWorld } from './testing/boot.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

test('expired rows are removed, and others stay', async () => {
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const owner = await ask('createPortalOwner', {
    company_id,
    email: 'ada@example.com',
    password: 'seven otters juggle lanterns',
  });
  const { query } = world.database;
  for (const hours of [1, 23, 25, 100])
    await query(
      `INSERT INTO portal_sessions (company_id, user_id, token_hash, created_utc, last_used_utc, address, user_agent)
       VALUES (?, ?, RANDOM_BYTES(32), UTC_TIMESTAMP(3) - INTERVAL ? HOUR, UTC_TIMESTAMP(3), '::1', '')`,
      [company_id, owner.body.id, hours],
    );
  for (const hours of [1, 23, 25])
    await query(
      `INSERT INTO sign_in_delays VALUES
       (RANDOM_BYTES(32), 3, UTC_TIMESTAMP(3) - INTERVAL ? HOUR, UTC_TIMESTAMP(3))`,
      [hours],
    );
  const second = await ask('createPortalOwner', {
    company_id,
    email: 'grace@example.com',
    password: 'seven otters juggle lanterns',
  });
  for (const [user, minutes] of [
    [owner.body.id, -1],
    [second.body.id, 1],
  ])
    await query(
      `INSERT INTO portal_password_resets (company_id, user_id, token_hash, created_utc, expires_utc)
       VALUES (?, ?, RANDOM_BYTES(32), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) + INTERVAL ? MINUTE)`,
      [company_id, user, minutes],
    );
  // More than one statement removes.
  await query('SET SESSION cte_max_recursion_depth = 5000');
  await query(
    `INSERT INTO request_minutes (company_id, minute_utc, key_id, bucket)
     WITH RECURSIVE n AS (SELECT 1 AS at UNION ALL SELECT at + 1 FROM n WHERE at < 2500)
     SELECT ?, UTC_TIMESTAMP() - INTERVAL 31 DAY - INTERVAL at MINUTE, 1, 'read' FROM n`,
    [company_id],
  );
  await query(
    "INSERT INTO request_minutes (company_id, minute_utc, key_id, bucket) VALUES (?, UTC_TIMESTAMP() - INTERVAL 29 DAY, 1, 'read')",
    [company_id],
  );

  const count = async (table: string): Promise<unknown> =>
    (await query<{ rows: number }>(`SELECT COUNT(*) AS \`rows\` FROM ${table}`))[0]?.rows;
  await query(
    `INSERT INTO audit_log (company_id, created_utc, actor_kind, actor_name, action, target_kind, target_name)
     SELECT ?, UTC_TIMESTAMP(3) - INTERVAL days DAY, 'user', 'Ada', action, 'x', 'x'
     FROM (VALUES ROW ('session.started', 91), ROW ('key.created', 91), ROW ('session.started', 89)) AS t (action, days)`,
    [company_id],
  );
  const entries = Number(await count('audit_log'));
  const context = { db: world.openDb(), log, now: () => new Date() };

  await deleteExpired({ ...context, portal: testPortal });
  expect(await count('audit_log')).toBe(entries);
  await deleteExpired({ ...context, portal: { ...testPortal, auditDays: 90 } });
  expect(await count('audit_log')).toBe(entries - 1);
  expect(await count('portal_sessions')).toBe(2);
  expect(await count('sign_in_delays')).toBe(2);
  expect(await count('portal_password_resets')).toBe(1);
  expect(await count('request_minutes')).toBe(1);
});
