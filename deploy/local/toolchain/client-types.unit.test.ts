import { readFileSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ensureClientTypes } from './client-types.mjs';

const root = resolve(import.meta.dirname, '../../..');
const file = join(root, 'proto/client/interface.generated.ts');
const writtenMs = (): number => statSync(file).mtimeMs;

test('the types of the client are written when proto is newer, and stay when it does not load', async () => {
  const before = readFileSync(file, 'utf8');
  utimesSync(file, 0, 0);
  await ensureClientTypes(root, '/bin/false');
  expect([writtenMs(), readFileSync(file, 'utf8')]).toEqual([0, before]);
  await ensureClientTypes(root, process.execPath);
  expect(readFileSync(file, 'utf8')).toBe(before);
  const at = writtenMs();
  expect(at).toBeGreaterThan(0);
  await ensureClientTypes(root, process.execPath);
  expect(writtenMs()).toBe(at);
});
