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
