import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { serviceSpecs } from '../../../deploy/local/programs.ts';
import { openReceiver } from '../../faults/receiver.ts';
import { runFault } from '../../faults/run.ts';
import { allReady, processesOf, signal } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

test('Every service can be restarted under load: no request fails, and nothing is delivered twice without a reason', {
  timeout: 300_000,
}, async () => {
  const receiver = await openReceiver();
  cleanUp(() => receiver.close());
  const kinds = serviceSpecs.map(({ name }) => processesOf(world, name).map((one) => one.name));
  const { complaints, deliveries } = await runFault(
    { world },
    receiver,
    receiver.url,
    {
      name: 'restart every service',
      // One process of each kind at a time, so that another one always runs.
      act: async () => {
        for (let round = 0; round < Math.max(...kinds.map((names) => names.length)); round++) {
          const names = kinds.flatMap((all) => all[round] ?? []);
          await allReady(
            world,
            names.map((name) => signal(world, name, 'SIGTERM')),
          );
        }
        return undefined;
      },
      lastsMs: 0,
      unnoticed: true,
    },
    // Little, because the starts of all services take a busy machine's processors, and requests have deadlines.
    { createsPerSecond: 12, share: 0.4, isBusy: true, say: () => {} },
  );
  expect(complaints).toEqual([]);
  expect(deliveries).toBeGreaterThan(50);
});
