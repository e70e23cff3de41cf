import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { splitStatements } from '../../services/runtime/database/migrate.ts';

const root = resolve(import.meta.dirname, '../..');

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
  expect(statements.length).toBeGreaterThan(50);
  const silent = changes.filter(({ statement }) => !isOnline(statement)).map(({ file }) => file);
  const hint =
    'end it in ALGORITHM = INSTANT, or in ALGORITHM = INPLACE, LOCK = NONE (deploy/data/README.md)';
  expect(silent, hint).toEqual([]);
});

const isSilentIndex = (file: string, statement: string): boolean =>
  /^ALTER TABLE (events|deliveries|delivery_attempts)\b[^;]*\bADD (UNIQUE )?(KEY|INDEX)\b/i.test(statement) &&
  !/million rows/.test(file);

test('an index on one of the largest tables says in a comment how long a million rows take', () => {
  const index = 'ALTER TABLE events ADD KEY of_type (company_id, type), ALGORITHM = INPLACE, LOCK = NONE';
  expect(isSilentIndex(index, index)).toBe(true);
  expect(isSilentIndex(`-- 20 s for a million rows.\n${index}`, index)).toBe(false);
  const silent = changes.filter(({ file, statement }) =>
    isSilentIndex(readFileSync(join(root, file), 'utf8'), statement),
  );
  expect(silent).toEqual([]);
});
