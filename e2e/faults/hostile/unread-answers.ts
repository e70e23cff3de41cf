import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deafConnection, rawRequest } from '../../api/support/raw.ts';
import { type Attack, alternating } from './attack.ts';
import { type Flood, openAttacker, runParallel } from './flood.ts';

const connections = 8;
const requests = 12_000;
const batch = 500;

interface AttackTarget {
  readonly baseUrl: string;
  readonly paths: readonly string[];
}

/** Keeps connections open that endlessly request large pages or forbidden paths, and read no answer. */
export const floodUnreadAnswers =
  ({ baseUrl, paths }: AttackTarget): Flood =>
  (signal, count) =>
    runParallel(signal, { width: connections, perSecond: 4 * connections }, async (worker) => {
      const connection = deafConnection(baseUrl);
      const path = paths[worker % paths.length];
      const bytes = Buffer.from(rawRequest(`GET ${path} HTTP/1.1`, []).repeat(batch));
      count('connections');
      for (let sent = 0; sent < requests && !connection.closed() && !signal.aborted; sent += batch)
        await connection.write(bytes);
      while (!connection.closed() && !signal.aborted) await sleep(20);
      connection.socket.destroy();
    });

export const unreadAnswers: Attack = {
  name: 'hostile: pipelined requests whose answers are never read',
  target: 'gateway-1',
  growthMiB: 96,
  ...alternating,
  prepare: ({ baseUrl }) =>
    openAttacker(floodUnreadAnswers.name, {
      baseUrl,
      paths: [largestAsset(), '/api/v1/openapi.json', '/api/v1/integrations/leads'],
    }),
};

const assets = resolve(import.meta.dirname, '../../../admin-ui/dist/assets');

const largestAsset = (): string => {
  const sizes = readdirSync(assets).map((name) => ({ name, bytes: statSync(join(assets, name)).size }));
  const [largest] = sizes.filter(({ name }) => name.endsWith('.js')).toSorted((a, b) => b.bytes - a.bytes);
  if (!largest) throw new Error(`${assets} holds no script`);
  return `/portal/assets/${largest.name}`;
};
