import { cleanUp } from '@causeway/runtime/testing';
import { inject } from 'vitest';
import { openWorldAt, type World } from './open.ts';

export { type Ask, type Company, type Json, type Key, type Reply, send, type World } from './open.ts';

/** Opens the cluster of this test run, and closes the connections to it at the end of the file. */
export const openWorld = async (): Promise<World> => {
  const home = inject('stackHome');
  if (!home) throw new Error('stackHome is missing: run the tests by npm test, which starts a cluster');
  const { world, close } = await openWorldAt(home);
  cleanUp(close);
  return world;
};
