import { Pool } from 'undici';
import { type Ask, send } from '../../api/support/open.ts';
import { openTeam } from '../../api/support/portal.ts';
import { type Attack, alternating } from './attack.ts';
import { type Flood, openAttacker, runParallel } from './flood.ts';

const keys = 95_000;
/** Before the bounds, two of them a second held a thread all the time. More would measure two cores, not the bounds. */
const perSecond = 10;

interface AttackTarget {
  readonly baseUrl: string;
  readonly key: string;
  readonly cookie: string;
}

/** Sends bodies of 1 MiB that contain only keys: with an API key, with a session, and with neither. */
export const floodJsonKeys = ({ baseUrl, key, cookie }: AttackTarget): Flood => {
  const body = JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, at) => [`k${at}`, 1])));
  const page = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const asks: readonly [string, string, Ask][] = [
    ['API key', '/integrations/leads', { key }],
    [
      'session',
      '//portal/api/v1/subscriptions/1/test',
      { headers: { ...page, cookie: `causeway=${cookie}` } },
    ],
    ['neither', '//portal/api/v1/session', { headers: page }],
  ];
  return async (signal, count) => {
    const pool = new Pool(baseUrl, { connections: asks.length, pipelining: 1 });
    await runParallel(signal, { width: asks.length, perSecond }, async (worker) => {
      const [who, path, ask] = asks[worker]!;
      const end = await send(pool, path, { method: 'POST', body, ...ask }).then(
        ({ status }) => status,
        () => 'connection closed',
      );
      count(`× ${end} (${who})`);
    });
    await pool.destroy();
  };
};

export const jsonKeys: Attack = {
  name: 'hostile: JSON bodies with 95,000 keys',
  target: 'crm-1',
  // V8 collects buffers when there are about 100 MiB of them (`nodeFlags`).
  growthMiB: 160,
  ...alternating,
  prepare: async (world) => {
    const company = await world.company({ write: 1_000_000_000 });
    const { value: key } = await company.key();
    const { owner } = await openTeam(world);
    return openAttacker(floodJsonKeys.name, { baseUrl: world.baseUrl, key, cookie: owner.browser.cookie() });
  },
};
