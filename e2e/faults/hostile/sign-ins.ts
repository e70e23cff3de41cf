import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { send } from '../../api/support/open.ts';
import { openTeam } from '../../api/support/portal.ts';
import { type Attack, alternating } from './attack.ts';
import { type Flood, openAttacker, runParallel } from './flood.ts';

const parallel = 32;
/** From all addresses together. More would measure how busy two cores are, not what a refusal costs. */
const perSecond = 300;

interface AttackTarget {
  readonly baseUrl: string;
  readonly email: string;
  readonly addresses: readonly string[];
}

/** Guesses passwords from each of these addresses, for a member and for email addresses that do not exist. */
export const floodSignIns =
  ({ baseUrl, email, addresses }: AttackTarget): Flood =>
  async (signal, count) => {
    const pools = addresses.map((localAddress) => new Pool(baseUrl, { connections: parallel, localAddress }));
    const width = addresses.length * parallel;
    let guess = 0;
    await runParallel(signal, { width, perSecond }, async (worker) => {
      const body = JSON.stringify({
        email: guess++ % 2 === 0 ? email : `${randomUUID()}@example.com`,
        password: 'not the password at all',
      });
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
      const ask = { method: 'POST', headers, body };
      const end = await send(pools[worker % pools.length]!, '//portal/api/v1/session', ask).then(
        ({ status }) => status,
        () => 'connection closed',
      );
      count(`× ${end}`);
    });
    await Promise.all(pools.map((pool) => pool.destroy()));
  };

const signIns = (from: string, addressCount: number, firstAddress: number): Attack => ({
  name: `hostile: ${parallel} parallel sign-ins from ${from}`,
  target: 'access-1',
  growthMiB: 96,
  ...alternating,
  prepare: async (world) => {
    const { owner } = await openTeam(world);
    // Healthy callers use 127.0.0.1.
    const addresses = Array.from({ length: addressCount }, (_, at) => `127.0.0.${firstAddress + at}`);
    return openAttacker(floodSignIns.name, { baseUrl: world.baseUrl, email: owner.email, addresses });
  },
});

export const signInFloods: readonly Attack[] = [
  signIns('one address', 1, 2),
  signIns('each of eight addresses', 8, 3),
];
