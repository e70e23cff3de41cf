import type { Reply, World } from './open.ts';

/** A new company that no limit holds up, a key of it with every scope, and a function that sends requests with it. */
export const openCaller = async (world: World) => {
  const company = await world.company({ read: 1_000_000, write: 1_000_000, admin: 1_000_000 });
  const { id: keyId, value: key } = await company.key();
  const ask = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
    world.ask(path, { method, key, headers, body });
  return { company, keyId, key, ask };
};
