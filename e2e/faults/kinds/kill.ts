import { eventStream, limitStream } from '@causeway/proto';
import { signal } from '../../api/support/processes.ts';
import type { Fault, Scene } from '../fault.ts';

const kill = (name: string, more: Partial<Fault> = {}): Fault => ({
  name: `kill ${name}`,
  act: async ({ world }) => void signal(world, name, 'SIGKILL'),
  lastsMs: 0,
  ...more,
});

export const killLeader = (stream: string): Fault => ({
  name: `kill leader of ${stream}`,
  act: async ({ world, leaderOf }: Scene) => {
    const leader = await leaderOf(stream);
    signal(world, leader, 'SIGKILL');
    return leader;
  },
  lastsMs: 0,
});

/** A process is killed; the supervisor restarts it. */
export const kills: readonly Fault[] = [
  kill('nats-1'),
  kill('nats-2'),
  kill('nats-3'),
  killLeader(limitStream),
  killLeader(eventStream),
  kill('gateway-1', { edge: true }),
  kill('gateway-2', { edge: true }),
  kill('access-1'),
  kill('crm-1'),
  kill('webhooks-1'),
  kill('dispatcher-1', { bounds: { failedAtMost: 0, latestDeliveryMs: 2_000, repeatedAtMost: 8 } }),
  // Until it has restarted, and half a second.
  kill('mysql', { bounds: { failingForMs: 2_500, latestDeliveryMs: 4_000 } }),
];
