import { keyBucket } from '@causeway/proto';
import { pidOf } from '../../api/support/processes.ts';
import type { Fault } from '../fault.ts';

const server = 'nats-3';

/** The disk of one NATS server, the leader of the streams on disk, or of MySQL, is completely full. */
export const disks: readonly Fault[] = [
  {
    name: `fill disk of ${server}`,
    prepare: async ({ disks, restart, lead }) => {
      disks.give(server, 32);
      await restart(server);
      await lead(`KV_${keyBucket}`, server);
    },
    act: async ({ disks, world }) => {
      const bytes = disks.fill(server, pidOf(world, server));
      return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    },
    lastsMs: 20_000,
    heal: async ({ disks, world, restart }) => {
      disks.empty(server, pidOf(world, server));
      // A server that found its disk full stores nothing until it is restarted.
      await restart(server);
    },
    restore: async ({ disks, restart }) => {
      disks.take(server);
      await restart(server);
    },
  },
  {
    name: 'fill disk of MySQL',
    act: async ({ disks, world }) => void disks.sizeMysql(world.home, true),
    lastsMs: 15_000,
    lateWrites: true,
    heal: async ({ disks, world }) => disks.sizeMysql(world.home, false),
  },
];
