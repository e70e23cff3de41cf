import type { Fault } from '../fault.ts';
import type { Link } from '../links.ts';
import { mysqlName } from '../scene.ts';

const vanishedMs = 10_000;

/** The host vanishes: packets to it get no answer, not even a refusal. Later its name points to its successor. */
const vanishMysql = (): Fault => {
  let links: readonly Link[] = [];
  return {
    name: 'mysql host vanishes, its name points to another',
    act: async (scene) => {
      links = scene.links.between(/.*/, /mysql/);
      await Promise.all(links.map((link) => link.cut('silent')));
      return undefined;
    },
    lastsMs: vanishedMs,
    heal: async ({ names }) => {
      const [address] = await Promise.all(links.map((link) => link.openSuccessor()));
      names.set(mysqlName, address!);
    },
    restore: async ({ names }) => {
      // What the vanished host got must not arrive after all.
      await Promise.all(links.map((link) => link.cut('refused')));
      await Promise.all(links.map((link) => link.heal()));
      names.set(mysqlName, '127.0.0.1');
      await Promise.all(links.map((link) => link.closeSuccessor()));
    },
    mayRepeat: true,
    bounds: { failingForMs: vanishedMs + 10_000, latestDeliveryMs: vanishedMs + 12_000 },
  };
};

export const vanishing: readonly Fault[] = [vanishMysql()];
