import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { emptiedTables as access } from '../../services/access/schema.ts';
import { emptiedTables as crm } from '../../services/crm/tables.ts';
import { emptiedTables as webhooks } from '../../services/webhooks/tables.ts';
import { exceptions, mysqlServices, privileges, tablesOf } from './privileges.ts';

const root = resolve(import.meta.dirname, '../..');
const owners = tablesOf(root);
const allowed = privileges(root);

test('each table has a service that writes it, and each exception names a table that exists', () => {
  const tables = [...owners.values()].flat();
  expect(tables.length).toBeGreaterThan(25);
  const idle = tables.filter(
    (table) =>
      !mysqlServices.some((service) =>
        (['INSERT', 'UPDATE'] as const).some((one) => allowed[service][table]?.includes(one)),
      ),
  );
  // Its triggers write it, with the rights of the migrations' user.
  expect(idle).toEqual(['lookup_versions']);
  const named = Object.values(exceptions).flatMap((own) => Object.keys(own));
  expect(named.filter((table) => !tables.includes(table))).toEqual([]);
});

test('no service may change append-only tables, but for crm, which erases payloads, and access, which deletes old entries', () => {
  for (const service of mysqlServices) {
    expect([service, allowed[service].audit_log]).toEqual([service, expect.not.arrayContaining(['UPDATE'])]);
    expect(allowed[service].events!.includes('UPDATE')).toBe(service === 'crm');
    expect(allowed[service].events).not.toContain('DELETE');
    expect(allowed[service].audit_log!.includes('DELETE')).toBe(service === 'access');
  }
});

test('a table is altered by one service at most, for its daily partitions', () => {
  const may = mysqlServices.flatMap((service) =>
    Object.entries(allowed[service]).flatMap(([table, list]) =>
      list.includes('ALTER') ? [`${service} ${table}`] : [],
    ),
  );
  expect(may.sort()).toEqual([
    'access request_log',
    'dispatcher deliveries',
    'dispatcher delivery_attempts',
    'dispatcher delivery_minutes',
    'webhooks events',
  ]);
});

test('every table of companies is emptied of a closed company by its service, or dropped by the day', () => {
  const withoutCompanies = [
    ...['companies', 'closed_companies', 'sign_in_delays', 'dispatchers', 'sealed_keys'],
    ...['clients_seq', 'client_notes_seq', 'employees_seq', 'events_seq'],
  ];
  for (const [service, { deleted, dropped }] of Object.entries({ access, crm, webhooks })) {
    const tables = [...owners].flatMap(([owner, names]) =>
      // Only `webhooks` writes channels.
      names.filter((name) => (name === 'notice_channels' ? 'webhooks' : owner) === service),
    );
    const ofCompanies = tables.filter((table) => !withoutCompanies.includes(table));
    expect([service, [...deleted, ...dropped].sort()]).toEqual([service, ofCompanies.sort()]);
    const may = allowed[service as keyof typeof allowed];
    expect(deleted.filter((table) => !may[table]!.includes('DELETE'))).toEqual([]);
    // Their days: see the test above.
    const days = mysqlServices.filter((one) =>
      dropped.every((table) => allowed[one][table]!.includes('DROP')),
    );
    expect([service, days.length]).toEqual([service, 1]);
  }
});
