import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { userOf } from '../mysql/grants.ts';
import { mysqlServices } from '../mysql/privileges.ts';
import { natsUsers } from '../nats/permissions.ts';
import { required } from '../settings/testing/readers.ts';

const root = resolve(import.meta.dirname, '../..');
const security = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const threatsFile = readFileSync(join(root, 'threats.md'), 'utf8');

const rowsOf = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/^\| (.+) \|$/gm)].map((match) => match[1]!.split(' | '));

const threats = rowsOf(threatsFile.split('\n## Guessing')[0]!)
  .filter(([threat]) => threat !== 'Threat')
  .map(([threat = '', , shown = '']) => ({
    threat,
    tests: [...shown.matchAll(/`([^`]+)`/g)].map((match) => match[1]!),
  }));

test('the table lists threats', () => {
  expect(threats.length).toBeGreaterThan(20);
});

describe.each(threats)('$threat', ({ tests }) => {
  test('names tests that exist and run', () => {
    expect(tests).not.toEqual([]);
    for (const file of tests) {
      expect(file).toMatch(
        /(\.(unit|integration)\.test\.ts|^e2e\/(api|api\/alone|portal)\/[\w-]+\.test\.ts)$/,
      );
      expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    }
  });
});

test('every test of the protection of NATS, MySQL and the network is named with its threat', () => {
  const named = new Set(threats.flatMap(({ tests }) => tests));
  const files = globSync(
    ['deploy/{security,nats,mysql}/**/*.integration.test.ts', 'services/runtime/*tls*.test.ts'],
    { cwd: root },
  );
  expect(files.length).toBeGreaterThan(4);
  expect(files.filter((file) => !named.has(file))).toEqual([]);
});

test('every credential has a row with what it can reach', () => {
  const told = rowsOf(security.split('\n## ').find((part) => part.startsWith('What an attacker')) ?? '').map(
    ([credential]) => credential ?? '',
  );
  const users = natsUsers(() => '').map(({ name }) => `NATS user \`${name}\``);
  const mysql = mysqlServices.map((service) => `MySQL user \`${userOf(service)}\``);
  const rings = Object.keys(required).filter((name) => name.endsWith('_KEYS'));
  for (const credential of [...users, ...mysql, ...rings, 'an API key', 'password', 'cookie']) {
    expect(told.some((row) => row.includes(credential)) ? credential : told).toBe(credential);
  }
});
