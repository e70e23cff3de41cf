import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { temporary } from '../data/testing/cluster.ts';
import { compose, interpolate } from '../docker/testing/compose.ts';
import { readStages } from '../docker/testing/dockerfile.ts';
import { startMysql } from '../local/mysql.ts';
import { startNats } from '../local/nats.ts';
import { freePorts } from '../local/ports.ts';
import { readToolchain } from '../local/toolchain.ts';
import { makeUsers } from '../mysql/grants.ts';
import { natsUsers } from '../nats/permissions.ts';
import { required } from '../settings/testing/readers.ts';
import { type Builder, openBuilder } from './testing/images/builder.ts';
import { startContainer } from './testing/images/container.ts';

const passwordOf = (name: string): string => `password-of-${name}`;

/** The last stage's user and entry point, as the image has them. */
const runOf = (dockerfile: string) => {
  const { user, entrypoint } = readStages(`deploy/docker/${dockerfile}`).at(-1)!;
  return { user: Number(user?.split(':')[0]), entrypoint };
};

/** Why this machine cannot run containers; undefined if it can. */
const cannotRun = (): string | undefined => {
  const { status, stderr, error } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
    {
      encoding: 'utf8',
    },
  );
  return status === 0
    ? undefined
    : `this machine allows no namespaces of mounts: ${error?.message ?? stderr.trim()}`;
};

test('buildah builds both images, and every service becomes ready on them: read-only, not as root', {
  timeout: 3_600_000,
}, async (context) => {
  const reason = cannotRun();
  if (reason) return context.skip(reason);
  let builder: Builder;
  try {
    builder = await openBuilder();
  } catch (error) {
    return context.skip(`this machine cannot build images: ${(error as Error).message}`);
  }
  const files = await builder.build('services.Dockerfile', 'causeway/services:local');
  const pages = await builder.build('admin-ui.Dockerfile', 'causeway/admin-ui:local');

  const toolchain = readToolchain(readEnv());
  const mysql = await startMysql({ home: temporary('mysql'), program: toolchain.mysqld! });
  cleanUp(() => mysql.stop());
  const administrator = await createConnection(mysql.url);
  cleanUp(() => administrator.end());
  await makeUsers(administrator, passwordOf);
  const nats = await startNats({
    home: temporary('nats'),
    program: toolchain.natsServer!,
    users: natsUsers((secret) => passwordOf(secret.replace('nats ', ''))),
  });
  cleanUp(() => nats.stop());

  /** The settings of the compose file, with the servers and ports of this machine. */
  const secrets = new Proxy({} as Record<string, string>, {
    get: (_, name: string) => required[name] ?? (/PASSWORD/.test(name) ? 'given' : ''),
  });
  const settingsOf = (name: string, ports: readonly number[]): NodeJS.ProcessEnv => {
    const given = Object.entries(compose.services[name]?.environment ?? {});
    const { NATS_CA_FILE: _, ...env } = Object.fromEntries(
      given.map(([variable, value]) => [variable, interpolate(value, secrets)]),
    );
    if (env.MYSQL_URL) {
      const url = new URL(mysql.url);
      if (name !== 'migrate' && name !== 'servers')
        [url.username, url.password] = [`causeway_${name}`, passwordOf(name)];
      env.MYSQL_URL = url.href;
    }
    return {
      ...env,
      ...(env.NATS_URL && { NATS_URL: nats.urlFor(name) }),
      ...(env.NATS_MONITOR_URLS && { NATS_MONITOR_URLS: nats.monitorUrl, DISK_PATHS: '/' }),
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: String(ports[0]),
      ...(name === 'gateway' && { HOST: '127.0.0.1', PORT: String(ports[1]) }),
    };
  };

  const { user, entrypoint } = runOf('services.Dockerfile');
  const start = async (name: string) => {
    const ports = await freePorts(2);
    const command = compose.services[name]!.command!;
    const env = settingsOf(name, ports);
    const container = startContainer({ name, files, user, args: [...entrypoint, ...command], env });
    return { ...container, name, url: `http://127.0.0.1:${ports[0]}`, port: ports[1] };
  };
  const answer = (url: string): Promise<string> => fetch(url).then((got) => got.text(), String);

  // What a process sees of itself.
  const eyes = startContainer({
    ...{ name: 'eyes', files, user },
    args: [
      ...['node', '--eval'],
      `const { readFileSync, writeFileSync } = require('node:fs');
       try { writeFileSync('/app/file', ''); console.log('written'); } catch ({ code }) { console.log(code); }
       console.log(process.getuid(), /CapEff:\\t0+$/m.test(readFileSync('/proc/self/status', 'utf8')),
         /NoNewPrivs:\\t1/.test(readFileSync('/proc/self/status', 'utf8')));`,
    ],
  });
  await expect.poll(() => eyes.isRunning()).toBe(false);
  expect(eyes.log()).toBe('EROFS\n1000 true true\n');

  const migrate = await start('migrate');
  await expect.poll(() => migrate.isRunning(), { timeout: 300_000 }).toBe(false);
  expect([migrate.child.exitCode, migrate.log()]).toEqual([0, migrate.log()]);
  for (const name of ['access', 'crm', 'webhooks', 'dispatcher', 'gateway', 'servers']) {
    const { url, log } = await start(name);
    try {
      await expect.poll(() => answer(`${url}/readyz`), { timeout: 300_000 }).toBe('ready\n');
    } catch (error) {
      throw new Error(`${name} is not ready:\n${log()}`, { cause: error });
    }
    process.stdout.write(`${name} is ready\n`);
  }

  // The port of the image may be taken on this machine.
  const [port] = await freePorts(1);
  const config = join(temporary('nginx'), 'nginx.conf');
  const text = readFileSync(join(pages, 'etc/nginx/nginx.conf'), 'utf8');
  expect(text).toContain('listen 8080;');
  writeFileSync(config, text.replace('listen 8080;', `listen 127.0.0.1:${port};`));
  const adminUi = runOf('admin-ui.Dockerfile');
  startContainer({
    ...{ name: 'admin-ui', files: pages, user: adminUi.user, hasTmp: true },
    args: ['nginx', '-g', 'daemon off;'],
    binds: { '/etc/nginx/nginx.conf': config },
  });
  await expect.poll(() => answer(`http://127.0.0.1:${port}/healthz`), { timeout: 60_000 }).toBe('ok\n');
  expect(await answer(`http://127.0.0.1:${port}/portal/`)).toMatch(/<!doctype html>/i);
});
