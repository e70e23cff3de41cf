import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { providePrograms } from '../local/toolchain/provide.mjs';
import { required } from '../settings/testing/readers.ts';
import { composeText } from './testing/compose.ts';

const program = (
  await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), { 'docker-compose': 'docker-compose' })
)['docker-compose']!;
const deploy = resolve(import.meta.dirname, '..');

const load = (env: Readonly<Record<string, string>>, ...files: string[]) => {
  const place = ['--project-directory', deploy, ...files.flatMap((file) => ['--file', join(deploy, file)])];
  const profile = files.length > 1 ? [] : ['--profile', 'monitoring'];
  const args = [...program.args, ...place, ...profile, 'config', '--format', 'json'];
  return spawnSync(program.command, args, { encoding: 'utf8', env });
};

const secrets = Object.fromEntries(
  [...composeText.matchAll(/\$\{([A-Z_]+):\?\}/g)].map(([, name]) => [name!, required[name!] ?? 'secret']),
);

test('docker compose loads the file', () => {
  const { status, stdout, stderr } = load(secrets, 'compose.yaml');
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const { services } = JSON.parse(stdout) as {
    services: Record<string, { healthcheck?: { test: string[] }; environment?: Record<string, string> }>;
  };
  expect(services.gateway?.healthcheck?.test.at(-1)).toMatch(/^fetch\(.*ok \? 0 : 1/);
  expect(services.nats?.environment?.NATS_PASSWORD_CRM).toBe('"secret"');
});

test('docker compose refuses the file without its secrets', () => {
  expect(load({}, 'compose.yaml').stderr).toMatch(/required variable \w+ is missing/);
});

test('docker compose joins the file for a machine of 2 GB', () => {
  const { status, stdout, stderr } = load(secrets, 'compose.yaml', 'compose.small.yaml');
  expect([stderr, status]).toEqual(['', 0]);
  const { gateway, crm } = JSON.parse(stdout).services;
  expect(crm).toBeUndefined();
  expect(Object.keys(gateway.depends_on).toSorted()).toEqual(['migrate', 'nats']);
  expect(Object.keys(gateway.networks).toSorted()).toEqual(['edge', 'inside', 'internet', 'mail']);
});
