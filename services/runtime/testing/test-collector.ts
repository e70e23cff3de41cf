import { cleanUp } from './cleanup.ts';
import { type Collector, openCollector } from './collector.ts';

export const startCollector = async (): Promise<Collector> => {
  const collector = await openCollector();
  cleanUp(() => collector.close());
  return collector;
};
