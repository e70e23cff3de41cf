import { setTimeout as sleep } from 'node:timers/promises';
import { eventStream, keyBucket } from '@causeway/proto';
import { until } from '@causeway/runtime/testing/until';
import { signal } from '../../api/support/processes.ts';
import type { Bounds } from '../bounds.ts';
import type { Fault, Scene } from '../fault.ts';

const natsKill: Bounds = { failedAtMost: 0, slowestMs: 500 };
const serviceKill: Bounds = { failedAtMost: 0, latestDeliveryMs: 2_000 };
/** Its own connections end, which `edge` allows. */
const gatewayKill: Partial<Fault> = { edge: true, bounds: { failedAtMost: 0 } };

const kill = (name: string, more: Partial<Fault> = {}): Fault => ({
  name: `kill ${name}`,
  act: async ({ world }) => void signal(world, name, 'SIGKILL'),
  lastsMs: 0,
  ...more,
});

const killLeader = (stream: string): Fault => ({
  name: `kill leader of ${stream}`,
  act: async ({ world, leaderOf }: Scene) => {
    const leader = await leaderOf(stream);
    signal(world, leader, 'SIGKILL');
    return leader;
  },
  lastsMs: 0,
  bounds: natsKill,
  mayRepeat: true,
});

const mysqlAnswers = async ({ world }: Scene): Promise<void> => {
  const answers = (): Promise<boolean> =>
    world.sql('SELECT 1').then(
      () => true,
      () => false,
    );
  await until('MySQL is gone', async () => !(await answers()), { everyMs: 5 });
  await until('MySQL answers', answers, { everyMs: 20 });
};

/**
 * Every server recovers its streams from its disk, with messages of any age. The load lasts longer than a window after it,
 * so that gateways that counted apart would exceed a limit.
 */
const killAllNats: Fault = {
  name: 'kill all NATS servers',
  prepare: () => sleep(185_000),
  act: async ({ world }) => {
    for (const name of ['nats-1', 'nats-2', 'nats-3']) signal(world, name, 'SIGKILL');
    return undefined;
  },
  lastsMs: 90_000,
  mayRepeat: true,
};

/** A process is killed; the supervisor restarts it. */
export const kills: readonly Fault[] = [
  kill('nats-1', { bounds: natsKill, mayRepeat: true }),
  kill('nats-2', { bounds: natsKill, mayRepeat: true }),
  kill('nats-3', { bounds: natsKill, mayRepeat: true }),
  killLeader(eventStream),
  killAllNats,
  // Services that lose their connection at the same time cannot read the key table for seconds.
  killLeader(`KV_${keyBucket}`),
  kill('gateway-1', gatewayKill),
  kill('gateway-2', gatewayKill),
  kill('access-1', { bounds: serviceKill }),
  kill('crm-1', { bounds: serviceKill }),
  kill('webhooks-1', { bounds: serviceKill }),
  kill('dispatcher-1', {
    mayRepeat: true,
    bounds: { failedAtMost: 0, latestDeliveryMs: 2_000, repeatedAtMost: 8 },
  }),
  kill('mysql', { restarted: mysqlAnswers, bounds: { failingForMs: 500, latestDeliveryMs: 4_000 } }),
];
