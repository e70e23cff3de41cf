import { cleanUp } from './cleanup.ts';
import { type Collector, openCollector } from './collector.ts';

/** A collector that closes with the test. */
export const startCollector = async (): Promise<Collector> => {
  const collector = await openCollector();
  cleanUp(() => collector.close());
  return collector;
};
