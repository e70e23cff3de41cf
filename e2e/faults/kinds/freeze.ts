import { limitStream } from '@causeway/proto';
import { signal } from '../../api/support/processes.ts';
import type { Fault, Scene } from '../fault.ts';

const freezeFor = 20_000;

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
const freezeThe = (name: string, more?: Partial<Fault>): Fault => freeze(name, async () => name, more);

/** A process is stopped (SIGSTOP) and later continues as if nothing had happened, like a paused machine. */
export const freezes: readonly Fault[] = [
  freeze(`leader of ${limitStream}`, ({ leaderOf }) => leaderOf(limitStream)),
  freezeThe('gateway-1', { edge: true }),
  freezeThe('gateway-2', { edge: true }),
  freezeThe('access-1'),
  freezeThe('crm-1'),
  freezeThe('webhooks-1'),
  freezeThe('dispatcher-1', { bounds: { failedAtMost: 0, latestDeliveryMs: 3_000, repeatedAtMost: 8 } }),
  // Nothing can be done without it.
  freezeThe('mysql', { bounds: { failingForMs: freezeFor + 500 } }),
];
