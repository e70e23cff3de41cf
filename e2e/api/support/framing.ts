import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { expect } from 'vitest';
import { listeningSocket, rawExchange, rawRequest, statusesOf } from './raw.ts';
import type { World } from './world.ts';

const lookup = '/integrations/lookups/employees';

/** The connection of a request with broken framing ends, and the request behind it is not executed, whenever it comes. */
export const endsUnread = async (world: World, headers: readonly string[], body: string): Promise<void> => {
  const { value } = await (await world.company()).key();
  const own = [`X-Api-Key: ${value}`];
  const first = rawRequest('POST /api/v1/integrations/leads HTTP/1.1', [...own, ...headers], body);
  const behind = rawRequest(`GET /api/v1${lookup} HTTP/1.1`, own);
  const atOnce = await rawExchange(world.baseUrl, Buffer.from(first + behind, 'latin1'), { answers: 2 });
  expect(atOnce.closed).toBe(true);
  expect(atOnce.statuses.filter((status) => status < 400)).toEqual([]);
  // Behind a proxy the rest arrives after the first answer.
  const heard = listeningSocket(world.baseUrl);
  heard.socket.write(Buffer.from(first, 'latin1'));
  // A parser that waits for more bytes answers nothing.
  await Promise.race([until('an answer', () => heard.text !== '' || heard.closed), sleep(400)]);
  heard.socket.write(behind);
  await until('the connection ends', () => heard.closed);
  expect(statusesOf(heard.text).filter((status) => status < 400)).toEqual([]);
  // A smuggled request would count as a read.
  const read = await world.ask(lookup, { key: value });
  expect(read.headers['x-ratelimit-remaining']).toBe('59');
};
