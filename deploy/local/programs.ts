import { join } from 'node:path';
import type { MysqlService } from '../mysql/privileges.ts';
import type { NatsMember, NatsUser } from '../nats/permissions.ts';
import { startMysql } from './mysql.ts';
import { type NatsServer, startNats } from './nats.ts';
import type { Counts } from './options.ts';
import { freePorts } from './ports.ts';
import type { Run } from './supervisor.ts';
import type { Program, Toolchain } from './toolchain.ts';

export interface ServiceSpec {
  readonly name: keyof Counts;
  readonly mysqlUser?: MysqlService;
  readonly keepsSecrets?: boolean;
  readonly keepsMembers?: boolean;
  /** It is started at the first call, and knows the gateways instead of NATS. */
  readonly isCalled?: boolean;
}

/** In start order; they stop in reverse, so that the edge stops first. */
export const serviceSpecs: readonly ServiceSpec[] = [
  { name: 'access', mysqlUser: 'access', keepsMembers: true },
  { name: 'crm', mysqlUser: 'crm' },
  { name: 'webhooks', mysqlUser: 'webhooks', keepsSecrets: true },
  { name: 'dispatcher', mysqlUser: 'dispatcher', keepsSecrets: true },
  { name: 'gateway' },
  { name: 'agents', isCalled: true },
];

/** It restarts on the same ports. */
interface ServerLauncher<Server> {
  launch(): Promise<Run>;
  server(): Server;
}

export const mysqlLauncher = (toolchain: Toolchain, home: string) =>
  launcher((last?: { port: number }) => {
    if (!toolchain.mysqld) throw new Error('no mysqld in the toolchain');
    const place = { home: join(home, 'mysql'), program: toolchain.mysqld };
    return startMysql(last ? { ...place, port: last.port } : place);
  });

export const natsLaunchers = async (options: NatsLaunchOptions): Promise<readonly NatsLauncher[]> => {
  const { count, home, routesPassword: password, wiring } = options;
  if (count === 1) return [natsLauncher(options, 'nats', join(home, 'nats'), async () => undefined)];
  const ports = await freePorts(count);
  const nameOf = (at: number): string => `nats-${at + 1}`;
  return ports.map((port, at) => {
    const others = ports.flatMap((other, to) => (to === at ? [] : [{ name: nameOf(to), port: other }]));
    const name = nameOf(at);
    return natsLauncher(options, name, join(home, 'nats', String(at + 1)), async () => ({
      ...{ name, port, password },
      others: await Promise.all(
        others.map(async (other) => wiring?.routePort?.(name, other.name, other.port) ?? other.port),
      ),
    }));
  });
};

const natsLauncher = (
  { toolchain, users, wiring }: NatsLaunchOptions,
  name: string,
  home: string,
  cluster: () => Promise<NatsMember | undefined>,
): NatsLauncher => ({
  name,
  ...launcher(async (last?: { port: number; monitorPort: number }) => {
    if (!toolchain.natsServer) throw new Error('no nats-server in the toolchain');
    const member = await cluster();
    return startNats({
      home,
      program: wiring?.natsProgram?.(name, home, toolchain.natsServer) ?? toolchain.natsServer,
      users,
      ...(member && { cluster: member }),
      ...(last && { port: last.port, monitorPort: last.monitorPort }),
    });
  }),
});

interface NatsLauncher extends ServerLauncher<NatsServer> {
  readonly name: string;
}

interface NatsLaunchOptions {
  readonly count: number;
  readonly toolchain: Toolchain;
  readonly home: string;
  readonly users: readonly NatsUser[];
  readonly routesPassword: string;
  readonly wiring?: Wiring | undefined;
}

/** What a test inserts between the parts of a cluster; called whenever a part starts. */
export interface Wiring {
  environment?(name: string, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv>;
  routePort?(from: string, to: string, port: number): Promise<number>;
  natsProgram?(name: string, home: string, program: Program): Program;
}

const launcher = <Server extends Startable>(
  start: (last?: Server) => Promise<Server>,
): ServerLauncher<Server> => {
  let server: Server | undefined;
  return {
    launch: async () => {
      server = await start(server);
      const { pid, stop, exited, monitorUrl = null } = server;
      return { pid, stop, ready: Promise.resolve(monitorUrl), exited: exited.then(describe) };
    },
    server: () => {
      if (!server) throw new Error('not started');
      return server;
    },
  };
};

interface Startable {
  readonly pid: number;
  readonly monitorUrl?: string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stop(): Promise<void>;
}

const describe = ({ code, signal }: { code: number | null; signal: string | null }): string =>
  signal ?? `code ${code}`;
