import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { expect, test } from 'vitest';

interface Report {
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly via: unknown }>>;
  readonly message?: string;
}

const audit = (env: NodeJS.ProcessEnv = {}): Report => {
  const { stdout } = spawnSync(
    'npm',
    ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'],
    { cwd: resolve(import.meta.dirname, '../..'), encoding: 'utf8', env: { ...readEnv(), ...env } },
  );
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    return { message: 'npm said nothing that can be read' };
  }
};

test('no package of the images has a known vulnerability', { timeout: 60_000 }, (context) => {
  const report = audit();
  // Some mirrors of the registry, and machines without a network, offer no audit.
  if (!report.vulnerabilities) return context.skip(`the registry offers no audit: ${report.message}`);
  const found = Object.entries(report.vulnerabilities).map(([name, { severity }]) => `${name}: ${severity}`);
  expect(found).toEqual([]);
});

test('an unreachable registry is not mistaken for an audit without findings', { timeout: 60_000 }, () => {
  const report = audit({ npm_config_registry: 'http://127.0.0.1:1/' });
  expect(report.vulnerabilities).toBeUndefined();
  expect(report.message).toMatch(/ECONNREFUSED/);
});
