import { test } from 'vitest';
import { inOneMinute } from '../support/clock.ts';
import { endsUnread } from '../support/framing.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

// Each waits for the gateway's timeouts.
test.concurrent.each([
  ['the first chunk', '2;a=b\r\n{}\r\n0\r\n\r\n'],
  ['the last chunk', '2\r\n{}\r\n0;a\r\n\r\n'],
  ['the only chunk', '0;a\r\n\r\n'],
])(
  'an extension of %s: the connection ends, and the request behind it is not executed, whenever it comes',
  inOneMinute((_, body) => endsUnread(world, ['Transfer-Encoding: chunked'], body)),
);
