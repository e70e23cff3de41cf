import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '@causeway/runtime/testing';
import { Pool } from 'undici';

export interface Shot {
  readonly what: string;
  readonly ok: boolean;
  readonly elapsedMs: number;
}

export interface Traffic {
  /** @returns the zip that each client must have */
  stop(): Promise<{ readonly expected: ReadonlyMap<number, string>; readonly shots: readonly Shot[] }>;
}

/** The loops never touch the same client. @param old existing clients with their zips */
export const startTraffic = (baseUrl: string, key: string, old: ReadonlyMap<number, string>): Traffic => {
  const pool = new Pool(baseUrl, { connections: 12 });
  cleanUp(() => pool.destroy());
  const expected = new Map(old);
  const shots: Shot[] = [];
  let stopped = false;

  const ask = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> => {
    const startedMs = performance.now();
    let ok = false;
    let what = `${method} ${path}`;
    let answer: unknown;
    try {
      const reply = await pool.request({
        method,
        path: `/api/v1/integrations${path}`,
        headers: { 'x-api-key': key },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await reply.body.text();
      ok = reply.statusCode < 300;
      if (ok) answer = JSON.parse(text);
      else what += `: ${reply.statusCode} ${text}`;
    } catch (error) {
      what += `: ${error}`;
    }
    shots.push({ what, ok, elapsedMs: performance.now() - startedMs });
    return answer;
  };

  const loop = async (turn: (at: number) => Promise<void>): Promise<void> => {
    for (let at = 0; !stopped; at++) {
      await turn(at);
      await sleep(pauseMs);
    }
  };
  const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
  const create = (loopAt: number) => async (at: number) => {
    const zip = `N${loopAt}-${at}`;
    const made = (await ask('POST', '/clients', { ...person, zip })) as { client_id: number } | undefined;
    if (made) expected.set(made.client_id, zip);
  };
  const ids = [...old.keys()];
  const change = (loopAt: number, loops: number) => async (at: number) => {
    const id = ids[(loopAt + at * loops) % ids.length]!;
    // Every second change leaves the zip out, so the service writes back what it has read.
    const zip = at % 2 === 0 ? `C${loopAt}-${at}` : undefined;
    const done = await ask('PATCH', `/clients/${id}`, { city: `City ${at}`, ...(zip && { zip }) });
    if (done && zip) expected.set(id, zip);
  };
  const search = () => (at: number) =>
    ask('GET', `/lookups/clients?q=${ids[at % ids.length]}`).then(() => undefined);

  const loops = [create(0), create(1), create(2), change(0, 4), change(1, 4), change(2, 4), change(3, 4)];
  const running = [...loops, search(), search(), search()].map(loop);
  return {
    stop: async () => {
      stopped = true;
      await Promise.all(running);
      return { expected, shots };
    },
  };
};

/** Leaves CPU time to the other processes of this machine. */
const pauseMs = 30;
