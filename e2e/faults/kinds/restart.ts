import { serviceSpecs } from '../../../deploy/local/programs.ts';
import { processesOf } from '../../api/support/processes.ts';
import type { Fault } from '../fault.ts';

/** A rolling restart, as in a release. */
export const restarts: readonly Fault[] = [
  {
    name: 'restart every service',
    act: async ({ world, restart }) => {
      const names = serviceSpecs.flatMap(({ name }) => processesOf(world, name).map((one) => one.name));
      for (const name of names) await restart(name);
      return `${names.length} processes`;
    },
    lastsMs: 0,
    unnoticed: true,
    bounds: { repeatedAtMost: 0 },
  },
];
