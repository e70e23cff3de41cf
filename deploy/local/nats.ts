import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NatsMember, type NatsUser, renderNatsConfig } from '../nats/permissions.ts';
import { type Exit, endLeftovers, envIn, type Guarded, spawnGuarded } from './guarded.ts';
import type { Program } from './toolchain.ts';

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly monitorUrl: string;
  readonly pid: number;
  readonly exited: Promise<Exit>;
  urlFor(user: string): string;
  stop(): Promise<void>;
}

export interface NatsOptions {
  readonly home: string;
  readonly program: Program;
  /** Without users, everybody may do everything. */
  readonly users?: readonly NatsUser[];
  readonly port?: number;
  readonly monitorPort?: number;
  /** It is healthy once the members have found each other. */
  readonly cluster?: NatsMember;
}

const stopGraceMs = 15_000;
const startTimeoutMs = 60_000;

/** @throws with the server's own message if it does not start */
export const startNats = async (options: NatsOptions): Promise<NatsServer> => {
  const home = resolve(options.home);
  const configFile = join(home, 'nats.conf');
  const log = join(home, 'nats-server.log');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  await endLeftovers(home, stopGraceMs);
  for (const name of portFiles(home)) rmSync(join(home, name));

  const users = options.users ?? [];
  const config = renderNatsConfig({
    port: options.port ?? -1,
    monitorPort: options.monitorPort ?? -1,
    storeDir: join(home, 'jetstream'),
    portsDir: home,
    users,
    ...(options.cluster && { cluster: options.cluster }),
  });
  writeFileSync(configFile, config, { mode: 0o600 });
  const server = await spawnGuarded({
    command: options.program.command,
    args: [...options.program.args, '--config', configFile],
    env: envIn(home),
    logFile: log,
  });
  try {
    const { port, monitorPort } = await readPorts(server, home);
    const monitorUrl = `http://127.0.0.1:${monitorPort}`;
    await healthy(server, monitorUrl);
    const url = `nats://127.0.0.1:${port}`;
    const urlFor = (name: string): string => {
      const user = users.find((candidate) => candidate.name === name);
      if (!user) throw new Error(`NATS has no user ${name}`);
      return `nats://${encodeURIComponent(name)}:${encodeURIComponent(user.password)}@127.0.0.1:${port}`;
    };
    const stop = () => server.stop(stopGraceMs);
    return { url, port, monitorPort, monitorUrl, pid: server.pid, exited: server.exited, urlFor, stop };
  } catch (error) {
    await server.stop(stopGraceMs);
    const words = readFileSync(log, 'utf8').split('\n').slice(-8).join('\n').trim();
    throw new Error(`nats-server did not start; its log is ${log}\n${words}`, { cause: error });
  }
};

const portFiles = (home: string): string[] => readdirSync(home).filter((name) => name.endsWith('.ports'));

const readPorts = async (server: Guarded, home: string): Promise<{ port: number; monitorPort: number }> => {
  for (const endMs = Date.now() + startTimeoutMs; ; await sleep(10)) {
    for (const name of portFiles(home)) {
      try {
        const { nats, monitoring } = JSON.parse(readFileSync(join(home, name), 'utf8')) as PortsFile;
        return { port: portOf(nats), monitorPort: portOf(monitoring) };
      } catch {}
    }
    if (server.hasExited() || Date.now() > endMs) throw new Error('no ports were announced');
  }
};

interface PortsFile {
  readonly nats: readonly string[];
  readonly monitoring: readonly string[];
}

const portOf = (urls: readonly string[]): number => {
  const port = Number(new URL(urls[0] ?? '').port);
  if (!port) throw new Error('no port');
  return port;
};

const healthy = async (server: Guarded, monitorUrl: string): Promise<void> => {
  for (const endMs = Date.now() + startTimeoutMs; ; await sleep(20)) {
    const response = await fetch(`${monitorUrl}/healthz`).catch(() => undefined);
    if (response?.ok) return;
    if (server.hasExited() || Date.now() > endMs) throw new Error('not healthy');
  }
};
