import type { Fault, Scene } from '../fault.ts';

const lastsMs = 15_000;

/** Ends the connections of the services, so that the next ones have the present settings. */
const reconnect = async ({ world }: Scene): Promise<void> => {
  const found = await world.sql<{ id: number }>(
    "SELECT id FROM information_schema.processlist WHERE user NOT IN ('causeway', 'event_scheduler', 'system user')",
  );
  for (const { id } of found) await world.sql('KILL ?', [id]).catch(() => {});
};

const users = ({ world }: Scene) =>
  world.sql<{ user: string; host: string }>(
    "SELECT user, host FROM mysql.user WHERE user LIKE 'causeway\\_%' OR user IN ('access', 'crm', 'webhooks', 'dispatcher')",
  );

const allow = async (scene: Scene, connections: number): Promise<void> => {
  for (const { user, host } of await users(scene))
    await scene.world.sql('ALTER USER ?@? WITH MAX_USER_CONNECTIONS ?', [user, host, connections]);
};

/** Settings of MySQL that an operator, a failover or another product changes. */
export const settings: readonly Fault[] = [
  {
    name: 'read-only MySQL, as in a planned failover',
    act: async ({ world }) => void (await world.sql('SET GLOBAL super_read_only = ON')),
    lastsMs: 6_000,
    heal: async ({ world }) =>
      void (await world.sql('SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF')),
  },
  {
    name: 'three MySQL connections for each service',
    act: async (scene) => {
      await allow(scene, 3);
      await reconnect(scene);
      return `${(await users(scene)).length} users`;
    },
    lastsMs,
    heal: (scene) => allow(scene, 0),
    // Slower, but what works serves: only what was under way when its connection was ended may fail.
    bounds: { failingForMs: 3_000 },
  },
  {
    name: 'auto_increment_increment of 2, as with two primaries',
    prepare: async (scene) => {
      await scene.world.sql('SET GLOBAL auto_increment_increment = 2');
      await reconnect(scene);
    },
    act: async () => undefined,
    lastsMs,
    restore: async (scene) => {
      await scene.world.sql('SET GLOBAL auto_increment_increment = 1');
      await reconnect(scene);
    },
  },
];
