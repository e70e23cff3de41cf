import { test } from 'vitest';
import { openWorld } from './testing/boot.ts';
import { keepsResultsWhileRefused } from './testing/refused.ts';

const world = await openWorld();

test.each([
  ['is full', 1114],
  ['cannot write its table', 1030],
  ['withholds a privilege', 1142],
])('results are kept while MySQL %s, and recorded afterwards', (_, errno) =>
  keepsResultsWhileRefused(world, errno),
);
