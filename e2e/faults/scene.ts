import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectBus } from '@causeway/runtime';
import { until } from '@causeway/runtime/testing/until';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Wiring } from '../../deploy/local/programs.ts';
import type { Report } from '../../deploy/local/report.ts';
import { openCluster } from '../../deploy/local/testing/open-cluster.ts';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { openWorldAt, type World } from '../api/support/open.ts';
import { allReady, signal } from '../api/support/processes.ts';
import { makeDisks } from './disks.ts';
import type { Place, Scene } from './fault.ts';
import { openLinks } from './links.ts';
import { makeNames } from './names/names.ts';
import { type Clocks, makeClocks } from './skew/clocks.ts';

/**
 * The processes to run: three NATS servers with three copies of each stream, and several processes of the important
 * services.
 */
export const counts = '--nats 3 --gateways 2 --crm 2 --webhooks 2 --dispatchers 3'.split(' ');

/** The name under which services reach MySQL. */
export const mysqlName = 'mysql.fault';

/** Starts the cluster in `home`, with a link of its own for every connection between its parts. */
export const openScene = async ({ home, env, report, onEnd }: SceneOptions): Promise<Scene> => {
  const links = openLinks();
  onEnd(() => links.close());
  mkdirSync(home, { recursive: true });
  const clocks = makeClocks(join(home, 'clocks'));
  const disks = makeDisks();
  const unmount = disks.mountMysql(home);
  onEnd(async () => unmount());
  const names = makeNames(home);
  names.set(mysqlName, '127.0.0.1');
  const preloads = (...parts: readonly NodeJS.ProcessEnv[]): NodeJS.ProcessEnv => ({
    ...Object.assign({}, ...parts),
    NODE_OPTIONS: parts.flatMap(({ NODE_OPTIONS }) => NODE_OPTIONS ?? []).join(' '),
  });
  const wiring: Wiring = {
    environment: async (name, given) => ({
      ...given,
      ...(await throughLinks(name, given)),
      ...preloads(names.environment, clocks.environment(name)),
    }),
    routePort: (from, to, port) => links.port(from, to, port),
    natsProgram: disks.program,
  };
  const throughLinks = async (name: string, given: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> => {
    const servers = (given.NATS_URL ?? '').split(',');
    const nats = await Promise.all(servers.map((url, at) => onLink(url, name, `nats-${at + 1}`)));
    const mysql = given.MYSQL_URL && { MYSQL_URL: await onLink(given.MYSQL_URL, name, 'mysql', mysqlName) };
    return { NATS_URL: nats.join(','), ...mysql };
  };
  const onLink = async (url: string, from: string, to: string, host = '127.0.0.1'): Promise<string> => {
    const [address = '', port] = /127\.0\.0\.1:(\d+)/.exec(url) ?? [];
    return url.replace(address, `${host}:${await links.port(from, to, Number(port))}`);
  };

  const world = await startWorld({ home, env, report, onEnd }, counts, wiring, clocks);
  const bus = await connectBus({ url: world.stack().natsUrl, name: 'operator' });
  onEnd(() => bus.close());
  const streams = async () => (await jetstreamManager(bus.nc, { checkAPI: false })).streams;
  const leaderOf = async (stream: string): Promise<string> =>
    until(`${stream} has a leader`, async () => {
      const { cluster } = await (await streams()).info(stream);
      return cluster?.leader;
    });

  return {
    world,
    links,
    clocks,
    disks,
    names,
    leaderOf,
    lead: async (stream, server) => {
      await until(
        `${server} leads ${stream}`,
        async () => {
          if ((await leaderOf(stream)) === server) return true;
          const wish = JSON.stringify({ placement: { preferred: server } });
          await bus.nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, wish, { timeout: 5000 });
          return false;
        },
        { everyMs: 500 },
      );
    },
    restart: async (name) => {
      const gone = signal(world, name, 'SIGTERM');
      await allReady(world, [gone]);
    },
  };
};

/** Starts a cluster in `home` with one process of each kind, so that all users share it. */
export const openPlace = async (options: SceneOptions): Promise<Place> => ({
  world: await startWorld(options, []),
});

const startWorld = async (
  { home, env, report, onEnd }: SceneOptions,
  counts: readonly string[],
  wiring?: Wiring,
  clocks?: Clocks,
): Promise<World> => {
  const toolchain = readToolchain(env);
  const mysqld = toolchain.mysqld && (clocks?.mysqlProgram(toolchain.mysqld) ?? toolchain.mysqld);
  const cluster = await openCluster({
    home,
    env,
    toolchain: { ...toolchain, mysqld },
    counts,
    report,
    ...(wiring && { wiring }),
  });
  onEnd(() => cluster.stop());
  const { world, close } = await openWorldAt(home);
  onEnd(close);
  return world;
};

export interface SceneOptions {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly report: Report;
  readonly onEnd: (end: () => Promise<void>) => void;
}
