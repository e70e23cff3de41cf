import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

interface Report {
  /** Present when there was no audit. */
  readonly error?: unknown;
  readonly message?: string;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly via: unknown }>>;
}

test('no package of the images has a known weakness', { timeout: 60_000 }, (context) => {
  const { stdout } = spawnSync(
    'npm',
    ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'],
    {
      cwd: resolve(import.meta.dirname, '../..'),
      encoding: 'utf8',
    },
  );
  const report = JSON.parse(stdout) as Report;
  // Some mirrors of the registry, and machines without a network, have no audit to offer.
  if (!report.vulnerabilities) return context.skip(`the registry offers no audit: ${report.message}`);
  const found = Object.entries(report.vulnerabilities).map(([name, { severity }]) => `${name}: ${severity}`);
  expect(found).toEqual([]);
});
