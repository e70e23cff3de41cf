import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { providePrograms } from '../local/toolchain/provide.mjs';

const { promtool } = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), {
  promtool: 'prometheus',
});

/** The output of Prometheus's own tool. */
const say = (...args: readonly string[]): { readonly status: number | null; readonly words: string } => {
  const { status, stdout, stderr } = spawnSync(promtool.command, [...promtool.args, ...args], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return { status, words: `${stdout}${stderr}` };
};

test('Prometheus accepts the rules', () => {
  const { status, words } = say('check', 'rules', 'rules.yaml');
  expect(words).toMatch(/SUCCESS: \d\d rules found/);
  expect(status).toBe(0);
});

test('Prometheus accepts its configuration', () => {
  const { status, words } = say('check', 'config', '--syntax-only', 'prometheus.yaml');
  expect(words).toMatch(/SUCCESS/);
  expect(status).toBe(0);
});

// A real Prometheus never evaluates at the moment of its samples, and `rate` and `increase` extrapolate what lies between.
test.each(['15s', '11s'])(
  'every alert fires for its samples, and for no others, evaluated every %s',
  {
    timeout: 900_000,
  },
  (interval) => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-rules-'));
    cleanUp(() => rmSync(folder, { recursive: true }));
    copyFileSync(join(import.meta.dirname, 'rules.yaml'), join(folder, 'rules.yaml'));
    const tests = readFileSync(join(import.meta.dirname, 'rules.test.yaml'), 'utf8');
    expect(tests).toContain('evaluation_interval: 15s');
    const file = join(folder, 'rules.test.yaml');
    writeFileSync(file, tests.replace('evaluation_interval: 15s', `evaluation_interval: ${interval}`));
    const { status, words } = say('test', 'rules', file);
    expect(words).not.toMatch(/FAILED/);
    expect(status).toBe(0);
  },
);

test('Prometheus can parse every expression of the dashboard', () => {
  const { panels } = JSON.parse(
    readFileSync(join(import.meta.dirname, 'dashboards/causeway.json'), 'utf8'),
  ) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  // Written as rules, so that one run of the tool parses them all.
  const rules = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
  );
  expect(rules.length).toBeGreaterThan(20);
  const named = rules.map((expr, at) => ({ record: `panel:${at}`, expr }));
  const { status, stdout, stderr } = spawnSync(promtool.command, [...promtool.args, 'check', 'rules'], {
    input: JSON.stringify({ groups: [{ name: 'dashboard', rules: named }] }),
    encoding: 'utf8',
  });
  expect(`${stdout}${stderr}`).toMatch(new RegExp(`SUCCESS: ${rules.length} rules found`));
  expect(status).toBe(0);
});
