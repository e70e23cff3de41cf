import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { grantsFile, renderGrantsFile } from './file.ts';
import { exceptions, former, mysqlServices, privileges, tablesOf } from './privileges.ts';

const root = resolve(import.meta.dirname, '../..');
const owners = tablesOf(root);
const allowed = privileges(root);

test("the administrators' file matches the table", () => {
  expect(readFileSync(grantsFile, 'utf8')).toBe(renderGrantsFile());
});

test('each table has a service that writes it, and each exception names a table that exists', () => {
  const tables = [...owners.values()].flat();
  expect(tables.length).toBeGreaterThan(25);
  const idle = tables.filter(
    (table) => !mysqlServices.some((service) => allowed[service][table]?.includes('INSERT')),
  );
  expect(idle).toEqual([]);
  const named = Object.values(exceptions).flatMap((own) => Object.keys(own));
  expect(named.filter((table) => !tables.includes(table))).toEqual([]);
});

test('the release before keeps only privileges that this one does not need, on tables that exist', () => {
  const kept = Object.entries(former).flatMap(([service, own]) =>
    Object.entries(own).map(([table, list]) => ({ service, table, list })),
  );
  const tables = [...owners.values()].flat();
  for (const { service, table, list } of kept) {
    expect(tables).toContain(table);
    const needed = allowed[service as (typeof mysqlServices)[number]][table] ?? [];
    expect({ service, table, needed: list.filter((one) => needed.includes(one)) }).toEqual({
      service,
      table,
      needed: [],
    });
  }
});

test('no service may change append-only tables', () => {
  for (const service of mysqlServices) {
    expect([service, allowed[service].audit_log]).toEqual([service, expect.not.arrayContaining(['UPDATE'])]);
    expect([service, allowed[service].events]).toEqual([service, expect.not.arrayContaining(['UPDATE'])]);
    expect(allowed[service].audit_log).not.toContain('DELETE');
  }
});

test('a table is altered by one service at most, for its daily partitions', () => {
  const may = mysqlServices.flatMap((service) =>
    Object.entries(allowed[service]).flatMap(([table, list]) =>
      list.includes('ALTER') ? [`${service} ${table}`] : [],
    ),
  );
  expect(may.sort()).toEqual([
    'dispatcher deliveries',
    'dispatcher delivery_attempts',
    'dispatcher delivery_minutes',
    'webhooks events',
  ]);
});
