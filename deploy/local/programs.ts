import { join } from 'node:path';
import type { NatsUser } from '../nats/config.ts';
import { startMysql } from './mysql.ts';
import { startNats } from './nats.ts';
import type { Counts } from './options.ts';
import type { Run } from './supervisor.ts';
import type { Toolchain } from './toolchain.ts';

/** A service of the cluster and what it is given. */
export interface ServiceSpec {
  readonly name: keyof Counts;
  readonly usesMysql: boolean;
  /** Whether it is given the keys that signing secrets are sealed with. */
  readonly keepsSecrets?: boolean;
  /** Whether it is given those that members' second factors are sealed with. */
  readonly keepsMembers?: boolean;
}

/** In the order in which they start; they stop in the opposite one, so that the edge goes first. */
export const serviceSpecs: readonly ServiceSpec[] = [
  { name: 'access', usesMysql: true, keepsMembers: true },
  { name: 'crm', usesMysql: true },
  { name: 'webhooks', usesMysql: true, keepsSecrets: true },
  { name: 'dispatcher', usesMysql: true, keepsSecrets: true },
  { name: 'gateway', usesMysql: false },
];

/** A server of ours as something to keep running: it comes back on the ports it had. */
export interface ServerLauncher<Server> {
  launch(): Promise<Run>;
  /** Of the run that is going on. @throws before the first. */
  server(): Server;
}

export const mysqlLauncher = (toolchain: Toolchain, home: string) =>
  launcher((last?: { port: number }) => {
    if (!toolchain.mysqld) throw new Error('no mysqld in the toolchain');
    const place = { home: join(home, 'mysql'), program: toolchain.mysqld };
    return startMysql(last ? { ...place, port: last.port } : place);
  });

export const natsLauncher = (toolchain: Toolchain, home: string, users: readonly NatsUser[]) =>
  launcher((last?: { port: number; monitorPort: number }) => {
    if (!toolchain.natsServer) throw new Error('no nats-server in the toolchain');
    const place = { home: join(home, 'nats'), program: toolchain.natsServer, users };
    return startNats(last ? { ...place, port: last.port, monitorPort: last.monitorPort } : place);
  });

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
