import { expect, test } from 'vitest';
import { type Bounds, complaintsOfBounds } from './bounds.ts';

const measured = {
  failedAtMost: 3,
  failingForMs: 1_200,
  slowestMs: 700,
  latestDeliveryMs: 2_500,
  repeatedAtMost: 1,
};

test.each<[Bounds, readonly string[]]>([
  [{}, []],
  [measured, []],
  [{ failedAtMost: 2 }, ['3 requests failed, more than 2']],
  [{ failedAtMost: 0, repeatedAtMost: 1 }, ['3 requests failed, more than 0']],
  [
    { failingForMs: 1_000, slowestMs: 500, latestDeliveryMs: 2_000, repeatedAtMost: 0 },
    [
      'requests failed for 1.2 s, longer than 1.0 s',
      'the slowest request took 0.7 s, longer than 0.5 s',
      'the latest delivery took 2.5 s, longer than 2.0 s',
      '1 deliveries were repeated, more than 0',
    ],
  ],
])('%j against the measurement: %j', (bounds, complaints) => {
  expect(complaintsOfBounds(bounds, measured)).toEqual(complaints);
});
