import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect } from 'vitest';
import { makeCompany, restart, temporary } from '../../data/testing/cluster.ts';
import { prepareHome, readStack, type Stack } from '../../local/home.ts';
import { freePorts } from '../../local/ports.ts';
import { mysqlUsers, openSecrets } from '../../local/secrets.ts';
import { openCluster, root } from '../../local/testing/open-cluster.ts';
import type { MysqlService } from '../../mysql/privileges.ts';
import { type SteadyTraffic, startSteadyTraffic } from './steady-traffic.ts';

const { NATS_URL: _, MYSQL_URL: __, ...env } = readEnv();
const natsNames = ['nats-1', 'nats-2', 'nats-3'] as const;
export const services = ['access', 'crm', 'webhooks', 'dispatcher', 'gateway'] as const;

interface NatsPasswords {
  first: Readonly<Record<string, string>>;
  second: Readonly<Record<string, string>>;
}

const statefulSet = readFileSync(join(root, 'deploy/k8s/base/nats/statefulset.yaml'), 'utf8');
/** How long Kubernetes waits before it restarts the next server. */
const settleMs = Number(/^ {2}minReadySeconds: (\d+)$/m.exec(statefulSet)?.[1]) * 1000;

export interface Rotation {
  readonly passwords: NatsPasswords;
  readonly state: { suffix: string };
  readonly mysqlPasswords: Record<string, string>;
  readonly traffic: SteadyTraffic;
  readonly stack: Stack;
  mysqlUrlOf(service: MysqlService): string;
  /** Restarts one server after the other with the passwords of the moment, as a stateful set does. */
  restartNats(): Promise<void>;
  /** A gateway leaves the traffic before it stops, as a pod leaves its endpoints. */
  rollOut(service: (typeof services)[number]): Promise<void>;
}

export const fresh = (mark: string) =>
  Object.fromEntries([...services, 'operator'].map((name) => [name, `${mark}-${name}`]));

export const openRotation = async (): Promise<Rotation> => {
  const home = temporary('rotation');
  prepareHome(home);
  const gatewayPorts = await freePorts(2);
  const passwords = { second: fresh('unused') } as NatsPasswords;
  const passwordsFile = join(home, 'nats-users.json');
  const state = { suffix: '' };
  const mysqlPasswords: Record<string, string> = {};

  // Gives a starting server both users of each service, with the passwords of the moment.
  const wrapper = join(home, 'nats-server.sh');
  const rewrite = join(home, 'users.mjs');
  writeFileSync(
    rewrite,
    `import { readFileSync, writeFileSync } from 'node:fs';
const file = process.argv[2];
const { first, second } = JSON.parse(readFileSync(${JSON.stringify(passwordsFile)}, 'utf8'));
const config = JSON.parse(readFileSync(file, 'utf8'));
config.authorization.users = config.authorization.users.flatMap((one) => [
  { ...one, password: first?.[one.user] ?? one.password },
  { ...one, user: one.user + '-next', password: second[one.user] },
]);
Object.assign(config, { lame_duck_grace_period: '10s', lame_duck_duration: '30s' });
writeFileSync(file, JSON.stringify(config));
`,
  );
  const save = () => writeFileSync(passwordsFile, JSON.stringify(passwords), { mode: 0o600 });
  save();

  const cluster = await openCluster({
    home,
    env: { ...env, LOG_LEVEL: 'info' },
    counts: [
      ...['--port', String(gatewayPorts[0]), '--nats', '3'],
      ...['gateways', 'access', 'crm', 'webhooks', 'dispatchers'].flatMap((name) => [`--${name}`, '2']),
    ],
    wiring: {
      natsProgram: (_name, _home, { command, args }) => {
        const words = [command, ...args].map((word) => `'${word}'`).join(' ');
        writeFileSync(wrapper, `#!/bin/sh\n'${process.execPath}' '${rewrite}' "$2" && exec ${words} "$@"\n`);
        chmodSync(wrapper, 0o755);
        return { command: wrapper, args: [] };
      },
      environment: async (name, given) => {
        const service = name.replace(/-\d+$/, '');
        const [own = '', ...others] = (given.NATS_URL ?? '').split(',');
        const nats = new URL(own);
        nats.username = `${service}${state.suffix}`;
        const password = (state.suffix ? passwords.second : passwords.first)?.[service];
        if (password) nats.password = password;
        const mysql = given.MYSQL_URL ? new URL(given.MYSQL_URL) : undefined;
        if (mysql && mysqlPasswords[service]) mysql.password = mysqlPasswords[service];
        return {
          ...given,
          NATS_URL: [nats.href.replace(/\/$/, ''), ...others].join(','),
          ...(mysql && { MYSQL_URL: mysql.href }),
          ...(service === 'gateway' && { PORT: String(gatewayPorts[Number(name.at(-1)) - 1]) }),
        };
      },
    },
  });
  cleanUp(() => cluster.stop());
  const users = mysqlUsers(root, openSecrets(home));
  const { key } = await makeCompany(cluster.stack);
  const traffic = startSteadyTraffic(
    gatewayPorts.map((port) => `http://127.0.0.1:${port}`),
    key,
  );
  cleanUp(async () => void (await traffic.stop()));

  const processOf = (name: string) => readStack(home)?.processes.find((one) => one.name === name);
  /** As `preStop` does: the server moves its clients to the others, and ends. */
  const restartNats = async (name: string): Promise<void> => {
    report(`restarting ${name}`);
    const before = processOf(name)?.pid;
    process.kill(before!, 'SIGUSR2');
    await expect.poll(() => processOf(name)?.pid ?? before, { timeout: 180_000 }).not.toBe(before);
    await expect
      .poll(async () => (await fetch(`${processOf(name)?.metricsUrl}/healthz`)).ok, { timeout: 180_000 })
      .toBe(true);
    await sleep(settleMs);
  };
  return {
    passwords,
    state,
    mysqlPasswords,
    traffic,
    stack: cluster.stack,
    mysqlUrlOf: (service) => users.urlFor(service, cluster.stack.mysqlUrl),
    restartNats: async () => {
      save();
      for (const name of natsNames) await restartNats(name);
    },
    rollOut: async (service) => {
      for (const at of [0, 1]) {
        report(`restarting ${service}-${at + 1}`);
        const base = `http://127.0.0.1:${gatewayPorts[at]}`;
        if (service === 'gateway') await traffic.leave(base);
        await restart(home, `${service}-${at + 1}`);
        if (service === 'gateway') traffic.join(base);
      }
    },
  };
};

const report = (what: string): void => void process.stdout.write(`${new Date().toISOString()} ${what}\n`);
