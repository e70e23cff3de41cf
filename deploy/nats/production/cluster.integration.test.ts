import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLimitStreams } from '@causeway/identity';
import { eventStream, keyBucket, laneSubject, limitLogNumbers, limitLogStream } from '@causeway/proto';
import { type Bus, connectBus } from '@causeway/runtime';
import { type Certificate, cleanUp, makeAuthority, provided, startProgram } from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { openKeyBucket } from '../../../services/access/key-table/bucket.ts';
import { createStream } from '../../../services/dispatcher/intake/stream.ts';
import { createCounter } from '../../../services/gateway/limits/counter.ts';
import { freePorts } from '../../local/ports.ts';
import { passwordVariable, userNames } from './users.ts';

const config = resolve(import.meta.dirname, '../../k8s/base/nats/nats.conf');
/** Starts like a number and has a special character, as a generated password may. */
const passwordOf = (name: string): string => `7e1#${name}`;
const quoted = (text: string): string => `"${text}"`;
const passwords = Object.fromEntries(
  [...userNames, 'routes'].map((name) => [passwordVariable(name), quoted(passwordOf(name))]),
);

const authority = makeAuthority();
cleanUp(() => authority.remove());
const stranger = makeAuthority();
cleanUp(() => stranger.remove());
const certificate = authority.issue('127.0.0.1');

interface Server {
  readonly port: number;
  readonly monitorUrl: string;
  readonly logFile: string;
}

/** One server with the file of production; only its addresses come from the command line. */
const spawnServer = (
  folder: string,
  at: number,
  ports: readonly number[],
  { certFile, keyFile }: Certificate,
): Server => {
  const [port, routePort, monitorPort] = ports.slice(at * 3) as [number, number, number];
  const routes = [0, 1, 2].map(
    (to) => `nats-route://routes:${encodeURIComponent(passwordOf('routes'))}@127.0.0.1:${ports[to * 3 + 1]}`,
  );
  const log = openSync(join(folder, `nats-${at}.log`), 'w');
  const { end } = startProgram(
    provided('natsServer'),
    [
      ...['--config', config],
      ...['--addr', '127.0.0.1', '--port', String(port), '--http_port', String(monitorPort)],
      ...['--cluster', `nats://127.0.0.1:${routePort}`, '--routes', routes.join(',')],
    ],
    {
      env: {
        ...passwords,
        SERVER_NAME: `nats-${at}`,
        STORE_DIR: quoted(join(folder, String(at))),
        TLS_CERT: quoted(certFile),
        TLS_KEY: quoted(keyFile),
        TLS_CA: quoted(authority.caFile),
        ...Object.fromEntries(routes.map((url, to) => [`ROUTE_${to}`, quoted(url)])),
        PATH: process.env.PATH,
      },
      stdio: ['ignore', log, log],
    },
  );
  cleanUp(async () => void (await end('SIGKILL')));
  return { port, monitorUrl: `http://127.0.0.1:${monitorPort}`, logFile: join(folder, `nats-${at}.log`) };
};

const folder = await mkdtemp(join(tmpdir(), 'causeway-nats-cluster-'));
cleanUp(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
// Three for each server, and for one that must not join.
const ports = await freePorts(12);

const startThree = async (): Promise<readonly Server[]> => {
  const servers = [0, 1, 2].map((at) => spawnServer(folder, at, ports, certificate));
  for (const { monitorUrl, logFile } of servers) await healthy(monitorUrl, logFile);
  return servers;
};

/** A server of a cluster is healthy once the servers have elected a leader. */
const healthy = async (monitorUrl: string, logFile: string): Promise<void> => {
  for (const endMs = Date.now() + 40_000; Date.now() < endMs; await sleep(50)) {
    const answer = await fetch(`${monitorUrl}/healthz`).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`not healthy:\n${await readFile(logFile, 'utf8')}`);
};

const servers = await startThree();

const busOf = async (name: string, user = name): Promise<Bus> => {
  const [first, ...others] = servers.map(({ port }) => `127.0.0.1:${port}`);
  const url = [`tls://${user}:${encodeURIComponent(passwordOf(user))}@${first}`]
    .concat(others.map((address) => `tls://${address}`))
    .join(',');
  const bus = await connectBus({ url, name, files: { caFile: authority.caFile } });
  cleanUp(() => bus.close());
  return bus;
};

test('three servers with the files of production form one cluster', async () => {
  const routes = await Promise.all(
    servers.map(async ({ monitorUrl }) => {
      const answer = await fetch(`${monitorUrl}/routez`);
      const { routes } = (await answer.json()) as { routes: { remote_name: string }[] };
      return new Set(routes.map((route) => route.remote_name)).size;
    }),
  );
  expect(routes).toEqual([2, 2, 2]);
});

test('each service creates its streams with three copies, as its own user', async () => {
  const [dispatcher, gateway, access, operator] = await Promise.all(
    ['dispatcher', 'gateway', 'access', 'operator'].map((name) => busOf(name)),
  );
  await createStream(dispatcher!, 3);
  await ensureLimitStreams(access!.nc, ['nats-0', 'nats-1', 'nats-2']);
  await openKeyBucket(access!, 3);
  const manager = await jetstreamManager(operator!.nc);
  const copies = Object.fromEntries(
    await Promise.all(
      [eventStream, `KV_${keyBucket}`].map(async (stream) => {
        const { config: made } = await manager.streams.info(stream);
        return [stream, made.num_replicas];
      }),
    ),
  );
  expect(copies).toEqual({ [eventStream]: 3, [`KV_${keyBucket}`]: 3 });
  const places = await Promise.all(
    limitLogNumbers(3).map(async (log) => (await manager.streams.info(limitLogStream(log))).cluster?.leader),
  );
  expect(places).toEqual(['nats-0', 'nats-1', 'nats-2']);
  const counter = createCounter({
    bus: gateway!,
    logs: limitLogNumbers(3),
    timeoutMs: 10_000,
  });
  await counter.warm();
  const take = { window: 1, slot: 4, limit: 9, companySlot: 0 };
  expect(await counter.count(take)).toEqual({ own: 1, company: 0 });
  await counter.drain();
});

test.each(['crm', 'crm-next'])('%s has the permissions of a service on one server', async (user) => {
  const crm = await busOf('crm', user);
  await crm.flush();
  const refused = Promise.race([
    (async () => {
      for await (const status of crm.nc.status()) if (status.type === 'error') return status.error.message;
      return undefined;
    })(),
    sleep(5000, 'nothing was refused'),
  ]);
  crm.nc.publish(laneSubject('operator'), 'x');
  expect(await refused).toMatch(/permissions violation/i);
});

/** The client looks for a host name where there is only an address. */
const anyName = { checkServerIdentity: () => undefined };

test('a client without a password is refused', async () => {
  const attempt = connect({
    servers: `127.0.0.1:${servers[0]!.port}`,
    tls: { caFile: authority.caFile, ...anyName },
    reconnect: false,
  });
  await expect(attempt).rejects.toThrow(/authorization/i);
});

test('a client without TLS is refused, even with the right password', async () => {
  const attempt = connect({
    servers: `127.0.0.1:${servers[0]!.port}`,
    user: 'operator',
    pass: passwordOf('operator'),
    // Makes the npm client continue without TLS.
    tls: null,
    reconnect: false,
    timeout: 2000,
  });
  await expect(attempt).rejects.toThrow();
});

test('a server with a certificate of another authority cannot join the cluster, even with the right password', async () => {
  spawnServer(folder, 3, ports, stranger.issue('127.0.0.1'));
  const refused = async (): Promise<boolean> => {
    const logs = await Promise.all(servers.map(({ logFile }) => readFile(logFile, 'utf8')));
    return logs.some((log) => /TLS route handshake error.*unknown authority/.test(log));
  };
  await expect.poll(() => refused()).toBe(true);
  for (const { monitorUrl } of servers) {
    const { routes } = (await (await fetch(`${monitorUrl}/routez`)).json()) as {
      routes: { remote_name: string }[];
    };
    expect(new Set(routes.map((route) => route.remote_name))).not.toContain('nats-3');
  }
});
