import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { splitStatements } from '../../services/runtime/database/migrate.ts';

const root = resolve(import.meta.dirname, '../..');

/** Older than the rule; a migration that has run cannot be changed. */
const older: readonly string[] = [
  'services/access/migrations/004-portal-accounts.sql',
  'services/crm/migrations/002-statuses.sql',
  'services/crm/migrations/007-events-by-day.sql',
  'services/webhooks/migrations/004-deliveries-by-state.sql',
  'services/webhooks/migrations/005-release-and-drop.sql',
  'services/webhooks/migrations/006-deliveries-by-state-and-replay.sql',
];

const statements = globSync('services/*/migrations/*.sql', { cwd: root }).flatMap((file) =>
  splitStatements(readFileSync(join(root, file), 'utf8')).map((statement) => ({ file, statement })),
);
const changes = statements.filter(({ statement }) =>
  /^(ALTER TABLE|CREATE (UNIQUE )?INDEX)\b/i.test(statement),
);
const isOnline = (statement: string): boolean =>
  /\bALGORITHM\s*=\s*INSTANT\b/i.test(statement) ||
  (/\bALGORITHM\s*=\s*INPLACE\b/i.test(statement) && /\bLOCK\s*=\s*NONE\b/i.test(statement));

test('every change of a table names its algorithm, so that MySQL refuses it rather than block writers', () => {
  expect(changes.length).toBeGreaterThan(0);
  const silent = changes.filter(({ statement }) => !isOnline(statement)).map(({ file }) => file);
  const hint =
    'end it in ALGORITHM = INSTANT, or in ALGORITHM = INPLACE, LOCK = NONE (deploy/data/README.md)';
  expect(
    silent.filter((file) => !older.includes(file)),
    hint,
  ).toEqual([]);
});

test('no two migrations of a service have one number', () => {
  const numbers = globSync('services/*/migrations/*.sql', { cwd: root }).map((file) =>
    /^services\/(\w+)\/migrations\/(\d+)-/.exec(file)!.slice(1).join(' '),
  );
  expect(numbers.length).toBeGreaterThan(40);
  expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
});
