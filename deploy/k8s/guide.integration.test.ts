import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { providePrograms } from '../local/toolchain/provide.mjs';
import { readers, required } from '../settings/testing/readers.ts';
import { commandsOf } from '../testing/commands.ts';
import { type Manifest, ofKind, podsOf, renderOverlays } from './testing/manifests.ts';

// The commands of the guides, with kubectl itself; what would reach a cluster is printed instead.

const production = (await renderOverlays())['overlays/production'];
const { kubectl } = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), {
  kubectl: 'kubernetes-client',
});
const repository = resolve(import.meta.dirname, '../..');

test('the commands of the guide create every secret that the manifests take, with every key', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-secrets-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  const real = [kubectl.command, ...kubectl.args].map((word) => `'${word}'`).join(' ');
  writeFileSync(
    join(folder, 'kubectl'),
    `#!/bin/sh
case "$*" in
  *" create "*) exec ${real} "$@" --dry-run=client --output json > "$(mktemp made-XXXXXX)" ;;
  *) echo "$*" >> calls ;;
esac
`,
  );
  chmodSync(join(folder, 'kubectl'), 0o755);
  writeFileSync(join(folder, 'mysql-ca.crt'), 'the authority of MySQL');
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
      env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder, REPOSITORY: repository },
    });
  run('bash', ['-euc', commandsOf('README.md', 'Secrets')]);

  expect(readFileSync(join(folder, 'calls'), 'utf8')).toMatch(
    /^apply --filename \S+\/base\/namespace\.yaml\n$/,
  );
  const made = readdirSync(folder)
    .filter((name) => name.startsWith('made-'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Manifest);
  expect(new Set(made.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['causeway']));
  const keys = new Map(made.map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]));
  for (const { spec } of podsOf(production)) {
    for (const { env = [] } of spec.containers)
      for (const { valueFrom } of env)
        if (valueFrom?.secretKeyRef)
          expect(keys.get(valueFrom.secretKeyRef.name)).toContain(valueFrom.secretKeyRef.key);
    for (const { secret, configMap } of spec.volumes ?? []) {
      if (secret) expect(keys.get(secret.secretName)).toContain(secret.items?.[0]?.key ?? 'tls.key');
      const isRendered = ofKind(production, 'ConfigMap').some(
        ({ metadata }) => metadata.name === configMap?.name,
      );
      if (configMap && !isRendered) expect(keys.get(configMap.name)).toContain('ca.crt');
    }
  }
  // The services accept the rings, and the certificate is the authority's, for both sides of a connection.
  const textOf = (secret: string, key: string) =>
    Buffer.from(made.find(({ metadata }) => metadata.name === secret)!.data![key]!, 'base64').toString();
  expect(() =>
    readers.dispatcher!({ ...required, WEBHOOKS_SECRET_KEYS: textOf('webhooks-keys', 'ring') }),
  ).not.toThrow();
  expect(() =>
    readers.access!({ ...required, PORTAL_SECRET_KEYS: textOf('portal-keys', 'ring') }),
  ).not.toThrow();
  for (const purpose of ['sslserver', 'sslclient'])
    for (const host of ['nats-0.nats', 'nats-2.nats'])
      run('openssl', [
        'verify',
        '-purpose',
        purpose,
        '-verify_hostname',
        host,
        '-CAfile',
        'nats-ca.crt',
        'nats.crt',
      ]);
});

test('a restore stops every service, and starts each that has no fixed number of replicas', () => {
  const deployments = ofKind(production, 'Deployment').filter(({ metadata }) => metadata.name !== 'servers');
  const scaled = (title: string, replicas: RegExp) =>
    new RegExp(`scale deployment ([a-z ]+) --replicas ${replicas.source}`)
      .exec(commandsOf('data/README.md', title))?.[1]
      ?.split(' ')
      .sort();
  const names = deployments.map(({ metadata }) => metadata.name).sort();
  expect(scaled('1. Stop the services', /0\n/)).toEqual(names);
  // It connects to MySQL, and its number is fixed, so that the manifests start it again.
  expect(commandsOf('data/README.md', '1. Stop the services')).toContain(
    'scale deployment servers --replicas 0',
  );
  expect(scaled('5. Start the services', /[1-9]/)).toEqual(names);
  expect(deployments.filter(({ spec }) => !('replicas' in spec)).length).toBeGreaterThan(2);
});

test('every release deletes the job of the one before it, also on one machine', () => {
  const overlay =
    /kubectl --namespace causeway delete job migrate --ignore-not-found\n(?:kubectl [^\n]*\n)*?kubectl apply/;
  expect(commandsOf('README.md', 'Kubernetes')).toMatch(overlay);
  expect(commandsOf('README.md', 'Releases')).toMatch(
    /^kubectl --namespace causeway delete job migrate --ignore-not-found\n/,
  );
});
