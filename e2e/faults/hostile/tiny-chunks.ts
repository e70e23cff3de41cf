import { rawExchange, rawRequest } from '../../api/support/raw.ts';
import { type Attack, alternating } from './attack.ts';
import { type Flood, openAttacker, runParallel } from './flood.ts';

const connections = 30;
/** The rate that a connection of half a gigabit per second allows. */
const perSecond = 10;
const chunks = 1_000_000;

interface AttackTarget {
  readonly baseUrl: string;
}

/** Sends bodies of 6 MB on the wire in chunks of one byte, without a key. */
export const floodTinyChunks =
  ({ baseUrl }: AttackTarget): Flood =>
  (signal, count) => {
    const head = rawRequest('POST /api/v1/integrations/leads HTTP/1.1', ['Transfer-Encoding: chunked']);
    const bytes = Buffer.from(head + '1\r\na\r\n'.repeat(chunks));
    return runParallel(signal, { width: connections, perSecond }, async () => {
      // Keeps reading after the answer, until the connection ends.
      const { statuses } = await rawExchange(baseUrl, bytes, { answers: 2, timeoutMs: 10_000 });
      count(`× ${statuses[0] ?? 'no answer'}`);
    });
  };

export const tinyChunks: Attack = {
  name: 'hostile: bodies in chunks of one byte, without a key',
  target: 'gateway-1',
  growthMiB: 96,
  ...alternating,
  prepare: ({ baseUrl }) => openAttacker(floodTinyChunks.name, { baseUrl }),
};
