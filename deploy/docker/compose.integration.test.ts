import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { providePrograms } from '../local/toolchain/provide.mjs';
import { required } from '../settings/testing/readers.ts';
import { composeText } from './testing/compose.ts';

const program = (
  await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), { 'docker-compose': 'docker-compose' })
)['docker-compose']!;
const folder = mkdtempSync(join(tmpdir(), 'causeway-compose-'));
cleanUp(() => rmSync(folder, { recursive: true }));

const load = (text: string, env: Readonly<Record<string, string>>, ...others: string[]) => {
  const file = join(folder, 'compose.yaml');
  writeFileSync(file, text);
  const place = [
    '--project-directory',
    resolve(import.meta.dirname, '..'),
    '--file',
    file,
    ...others.flatMap((other) => ['--file', other]),
  ];
  const args = [
    ...program.args,
    ...place,
    ...(others.length > 0 ? [] : ['--profile', 'monitoring']),
    'config',
    '--format',
    'json',
  ];
  const { status, stdout, stderr } = spawnSync(program.command, args, { encoding: 'utf8', env });
  return { status, stdout, stderr };
};

const secrets = Object.fromEntries(
  [...composeText.matchAll(/\$\{([A-Z_]+):\?\}/g)].map(([, name]) => [name!, required[name!] ?? 'secret']),
);

test('docker compose loads the file', () => {
  const { status, stdout, stderr } = load(composeText, secrets);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const { services } = JSON.parse(stdout) as {
    services: Record<string, { healthcheck?: { test: string[] }; environment?: Record<string, string> }>;
  };
  expect(services.gateway?.healthcheck?.test.at(-1)).toMatch(/^fetch\(.*ok \? 0 : 1/);
  expect(services.nats?.environment?.NATS_PASSWORD_CRM).toBe('"secret"');
});

test('docker compose refuses the file without its secrets', () => {
  expect(load(composeText, {}).stderr).toMatch(/required variable \w+ is missing/);
});

test('docker compose joins the file for a machine of 2 GB', () => {
  const { status, stdout, stderr } = load(
    composeText,
    secrets,
    resolve(import.meta.dirname, '../compose.small.yaml'),
  );
  expect([stderr, status]).toEqual(['', 0]);
  const { services } = JSON.parse(stdout) as {
    services: Record<string, { depends_on: object; networks: object }>;
  };
  expect(Object.keys(services).toSorted()).toEqual([
    'agents',
    'gateway',
    'migrate',
    'mysql',
    'nats',
    'nats-volume',
  ]);
  expect(Object.keys(services.gateway!.depends_on).toSorted()).toEqual(['migrate', 'nats']);
  expect(Object.keys(services.gateway!.networks).toSorted()).toEqual(['edge', 'inside', 'internet', 'mail']);
});
