import type { Fault } from '../fault.ts';
import type { Disturbance } from '../links.ts';

const disturb = (what: string, how: Disturbance): Fault => ({
  name: what,
  act: async ({ links }) => {
    for (const link of links.between(/.*/, /mysql/)) link.disturb(how);
    return undefined;
  },
  lastsMs: 20_000,
  lateWrites: true,
  heal: async ({ links }) => {
    for (const link of links.between(/.*/, /mysql/)) link.disturb(undefined);
  },
});

/** The answer to COMMIT is lost or late, on the way from MySQL. */
export const commits: readonly Fault[] = [
  disturb('lost answers to COMMIT', 'lost'),
  disturb('COMMIT that arrives after its connection has ended', 'early'),
  disturb('late answers of MySQL', 'late'),
];
