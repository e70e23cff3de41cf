import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { testDatabase } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';

// Rows arrive as in life: by time, of a hundred companies in turn.

const rows = 200_000;
const minute = "TIMESTAMP '2026-01-15 00:00:00' + INTERVAL n DIV 100 MINUTE";
const at = "TIMESTAMP '2026-01-15 00:00:00' + INTERVAL n * 10 MICROSECOND";
const company = '1000 + n MOD 100';
const payload = `CONCAT('{"client_id":', n, ',"first_name":"Katherine","last_name":"Johnson","email":"katherine', n,
  '@example.com","phone":"+1 555 0100","status":"Client - Active","created_utc":"2026-01-15T09:30:00.000Z","city":"Hampton","state":"VA","zip":"23669","external_id":null}')`;

/** What an insert of the n-th row says. */
const columns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  events: {
    company_id: company,
    sequence: 'n DIV 100 + 1',
    created_utc: at,
    event_id: 'n + 1',
    type: "'client.created'",
    payload,
    origin: "'key:12'",
  },
  clients: {
    ...{ company_id: company, client_id: 'n + 1', status_id: '(SELECT MIN(status_id) FROM statuses)' },
    ...{ first_name: "'Katherine'", last_name: "'Johnson'", phone: "CONCAT('+1 555 ', n)" },
    ...{ email: "CONCAT('katherine', n, '@example.com')", city: "'Hampton'", state: "'VA'", zip: "'23669'" },
    ...{ external_id: "CONCAT('crm-', n)", created_utc: at, updated_utc: at, origin: "'key:12'" },
  },
  deliveries: {
    ...{ company_id: company, event_id: 'n + 1', subscription_id: 'n MOD 100 + 1', created_utc: at },
    ...{
      event_type: "'client.created'",
      state: "'succeeded'",
      attempts: '1',
      last_status: '200',
      updated_utc: at,
    },
  },
  request_minutes: {
    company_id: company,
    minute_utc: minute,
    key_id: 'n MOD 100 + 1',
    bucket: "'read'",
    answered: '1',
  },
  delivery_minutes: {
    company_id: company,
    minute_utc: minute,
    subscription_id: 'n MOD 100 + 1',
    succeeded: '1',
    upto_50: '1',
  },
  request_log: {
    ...{
      company_id: company,
      key_id: 'n MOD 100 + 1',
      created_utc: at,
      serial: 'n',
      operation: "'createClient'",
    },
    ...{
      method: "'POST'",
      ids: "''",
      status: '201',
      duration_ms: '12',
      request_id: "CONCAT('gateway-1-', HEX(n + 100000))",
    },
    ...{ address: "'203.0.113.7'", is_previous: '0', requests: '1' },
  },
  audit_log: {
    ...{ company_id: company, created_utc: at, actor_kind: "'user'", actor_id: 'n MOD 100 + 1' },
    ...{ actor_name: "'Katherine Johnson'", action: "'webhook.tested'", target_kind: "'subscription'" },
    ...{ target_id: 'n', target_name: "'https://receiver.example.com/hooks'", address: "'203.0.113.7'" },
    user_agent:
      "'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'",
    after_json: `'{"success":true,"eventType":"client.created","durationMs":120}'`,
    request_id: "CONCAT('gateway-1-', HEX(n + 100000))",
  },
  idempotency_keys: {
    ...{ company_id: company, idempotency_key: 'UNHEX(LEFT(SHA2(n, 256), 32))', status: '201' },
    answer: `CONCAT('{"client_id":', n, ',"status":"Lead - New","created_utc":"2026-01-15T09:30:00.000Z","version":1}')`,
    expires_utc: at,
  },
};

const guide = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');

/** The number in the guide's table. */
const bytesOf = (table: string): number =>
  Number(new RegExp(`^\\| \`${table}\`[^|]*\\| ([\\d,]+)`, 'm').exec(guide)?.[1]?.replace(',', ''));

test('the guide says how many bytes a row takes', { timeout: 600_000 }, async () => {
  const { query, name } = await testDatabase({
    folders: migrationFolders(resolve(import.meta.dirname, '../..')),
  });
  await query('SET SESSION cte_max_recursion_depth = 1000000, sql_mode = ""');
  const measured: Record<string, number> = {};
  for (const [table, values] of Object.entries(columns)) {
    await query(
      `INSERT INTO ${table} (${Object.keys(values).join(', ')})
       WITH RECURSIVE numbers AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows - 1})
       SELECT ${Object.values(values).join(', ')} FROM numbers`,
    );
    const [size] = await query<{ bytes: number }>(
      'SELECT SUM(file_size) AS bytes FROM information_schema.innodb_tablespaces WHERE name = ? OR name LIKE ?',
      [`${name}/${table}`, `${name}/${table}#%`],
    );
    measured[table] = Math.round(Number(size!.bytes) / rows);
  }
  const outside = Object.entries(measured).filter(
    ([table, bytes]) => !(Math.abs(bytesOf(table) / bytes - 1) < 0.2),
  );
  expect(outside, JSON.stringify(measured)).toEqual([]);
});
