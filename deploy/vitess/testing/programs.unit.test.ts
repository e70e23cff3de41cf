import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MissingProgram, vitessPrograms } from './programs.ts';

test('VITESS_BIN is where the programs come from, and a program that it lacks is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-vitess-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'vtgate'), '');
  const env = { VITESS_BIN: folder };
  expect(await vitessPrograms(env, '/nowhere', ['vtgate'])).toEqual({ vtgate: join(folder, 'vtgate') });
  await expect(vitessPrograms(env, '/nowhere', ['vtgate', 'vttablet', 'vtctld'])).rejects.toThrow(
    new MissingProgram(`VITESS_BIN is ${folder}, which has no vttablet, vtctld.`),
  );
});
