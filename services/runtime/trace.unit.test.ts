import { expect, test } from 'vitest';
import { childTraceparent } from './trace.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each([
  ['01', true, '01'],
  ['00', true, '00'],
  ['01', false, '00'],
  ['03', false, '02'],
])('after a caller’s flags %s, a hop that may record (%s) says %s', (flags, recorded, expected) => {
  const next = childTraceparent(`00-${traceId}-00f067aa0ba902b7-${flags}`, recorded);
  expect(next).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-${expected}$`));
});
