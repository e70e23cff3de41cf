import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { providePrograms } from '../../local/toolchain/provide.mjs';

const folder = resolve(import.meta.dirname, '..');

export const { promtool } = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), {
  promtool: 'prometheus',
});

export const say = (
  ...args: readonly string[]
): { readonly status: number | null; readonly words: string } => {
  const { status, stdout, stderr } = spawnSync(promtool.command, [...promtool.args, ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, words: `${stdout}${stderr}` };
};

interface Alert {
  readonly alert: string;
}
interface AlertTest {
  readonly name: string;
  readonly promql_expr_test: readonly { readonly expr: string }[];
}

export const readYaml = (file: string): unknown => parse(readFileSync(join(folder, file), 'utf8'));

/** Writes each alert and its tests to files of their own: a test asks for its alert alone, so no other is evaluated. */
const writeTests = (into: string, interval: string): readonly string[] => {
  const { groups } = readYaml('rules.yaml') as { groups: readonly { readonly rules: readonly Alert[] }[] };
  const { tests } = readYaml('rules.test.yaml') as { tests: readonly AlertTest[] };
  const files = groups
    .flatMap((group) => group.rules.map((rule) => ({ ...group, rules: [rule] })))
    .map((group) => {
      const [{ alert }] = group.rules as [Alert];
      const own = tests.filter(({ name }) => name.startsWith(`${alert}: `));
      for (const { expr } of own.flatMap((one) => one.promql_expr_test))
        expect(expr).toContain(`{alertname="${alert}", `);
      const rules = `${alert}.yaml`;
      const file = join(into, `${alert}.test.yaml`);
      writeFileSync(join(into, rules), JSON.stringify({ groups: [group] }));
      writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: interval, tests: own }));
      return { file, count: own.length };
    });
  expect(files.reduce((sum, { count }) => sum + count, 0)).toBe(tests.length);
  return files.map(({ file }) => file);
};

/** Expects that each alert fires for its samples, and for no others, evaluated at this interval. */
export const judgeAlerts = (interval: string): void => {
  const into = mkdtempSync(join(tmpdir(), 'causeway-rules-'));
  cleanUp(() => rmSync(into, { recursive: true }));
  const { status, words } = say('test', 'rules', ...writeTests(into, interval));
  expect(words).not.toMatch(/FAILED/);
  expect(status).toBe(0);
};
