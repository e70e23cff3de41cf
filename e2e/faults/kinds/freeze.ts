import { eventStream } from '@causeway/proto';
import { processesOf, signal } from '../../api/support/processes.ts';
import type { Bounds } from '../bounds.ts';
import type { Fault, Scene } from '../fault.ts';

const freezeFor = 20_000;
/** Longer than Causeway waits for a receiver. */
const shortly = 12_000;
const bounds: Bounds = { failingForMs: 1_000 };

/** @param choose the process to freeze. */
const freeze = (
  what: string,
  choose: (scene: Scene) => Promise<string>,
  more: Partial<Fault> = {},
): Fault => {
  let pid = 0;
  return {
    name: `freeze ${what}`,
    act: async (scene) => {
      const name = await choose(scene);
      pid = signal(scene.world, name, 'SIGSTOP');
      return name === what ? undefined : name;
    },
    lastsMs: freezeFor,
    heal: async () => void process.kill(pid, 'SIGCONT'),
    ...more,
  };
};
/** Everyone of a kind: nobody can take over. */
const freezeAll = (kind: string): Fault => {
  let pids: readonly number[] = [];
  return {
    name: `freeze every ${kind} for 12 s`,
    act: async ({ world }) => {
      pids = processesOf(world, kind).map(({ name }) => signal(world, name, 'SIGSTOP'));
      return undefined;
    },
    lastsMs: shortly,
    heal: async () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    },
    ...(kind === 'gateway' && { edge: true }),
    mayRepeat: true,
  };
};
const freezeThe = (name: string, more?: Partial<Fault>): Fault => freeze(name, async () => name, more);

/** A process is stopped (SIGSTOP) and later continues as if nothing had happened, like a paused machine. */
export const freezes: readonly Fault[] = [
  freeze(`leader of ${eventStream}`, ({ leaderOf }) => leaderOf(eventStream), { bounds, mayRepeat: true }),
  freezeThe('gateway-1', { edge: true, bounds }),
  freezeThe('gateway-2', { edge: true, bounds }),
  freezeThe('access-1', { bounds }),
  freezeThe('crm-1', { bounds }),
  freezeThe('webhooks-1', { bounds }),
  freezeThe('dispatcher-1', {
    mayRepeat: true,
    bounds: { failedAtMost: 0, latestDeliveryMs: 3_000, repeatedAtMost: 8 },
  }),
  // Nothing can be done without it.
  ...['dispatcher', 'crm', 'webhooks', 'gateway'].map(freezeAll),
  freezeThe('mysql', { bounds: { failingForMs: freezeFor + 500 } }),
];
