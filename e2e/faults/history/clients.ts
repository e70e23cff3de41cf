import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { outcome } from '../../api/support/clock.ts';
import { type Json, send, type World } from '../../api/support/open.ts';
import { createDice, type Dice } from '../../fuzz/dice.ts';
import { type Call, isDone, jsonOf, statusOf } from './call.ts';
import { writesOf } from './facts.ts';

export interface Caller {
  readonly company: number;
  readonly key: string;
}

export interface LoadOptions {
  readonly creators: readonly Caller[];
  /** Keys whose limit is used up some time into each minute. */
  readonly limited: readonly Caller[];
  /** Creates started per second, regardless of earlier ones. */
  readonly createsPerSecond: number;
  /** How much of the load there is, but for the lookups of limited keys: 1 by default. */
  readonly share?: number;
  readonly seed: number;
}

/** Clients that write down what they sent and what they were answered. */
export interface Load {
  readonly calls: readonly Call[];
  /** The share of failures among the requests that ended in the last `ms` milliseconds; 1 if none ended. */
  failedShare(ms: number): number;
  /** Starts no more requests. @returns the number of creates that never got a 2xx. */
  stop(): Promise<number>;
  /** Reads everything, with retries. Nobody writes any more. */
  audit(): Promise<void>;
  close(): Promise<void>;
}

/** More than the longest deadline of an operation. */
const requestTimeoutMs = 20_000;
const maxInFlight = 1_000;
const retryMs = 1_000;
const lastTriesMs = 60_000;
const lookupsPerSecond = 5;
/** The companies whose records are also changed, erased, followed and listed. */
const observed = 2;
const large = 'x'.repeat(9_000);

export const isFine = (call: Call): boolean => statusOf(call) > 0 && statusOf(call) < 500;

/** @returns once the records that several clients change are there. */
export const startLoad = async (world: World, options: LoadOptions): Promise<Load> => {
  const { creators, limited, createsPerSecond, share = 1, seed } = options;
  const pool = new Pool(world.baseUrl, {
    connections: 96,
    pipelining: 1,
    // A gateway that stops waits for idle connections, unless their clients close them.
    keepAliveMaxTimeout: 2_000,
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
  });
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  let [stopped, stoppedMs, abandoned, texts] = [false, 0, 0, 0];
  const newText = (letter: string): string => `${letter}${++texts}.`;
  const newEmail = (): string => `p${++texts}@example.com`;

  const ask = async (
    { company, key }: Caller,
    by: string,
    line: string,
    body?: Json,
    headers: Call['headers'] = {},
  ): Promise<Call> => {
    const [method = '', path = ''] = line.split(' ');
    const sentMs = performance.now();
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await outcome(send(pool, path, { method, key, headers, ...sent }));
    const call = { company, key, by, method, path, headers, body, sentMs, endedMs: performance.now(), reply };
    calls.push(call);
    return call;
  };
  /** As the contract asks: what may have been done is sent again, unchanged. */
  const insist = async (...given: Parameters<typeof ask>): Promise<Call> => {
    for (;;) {
      const call = await ask(...given);
      const { results = [] } = (statusOf(call) === 200 && jsonOf(call)) || {};
      if (isDone(call) && results.every(({ status }: Json) => status < 500)) return call;
      if (statusOf(call) >= 400 && ![409, 429].includes(statusOf(call)) && statusOf(call) < 500) return call;
      if (stopped && performance.now() - stoppedMs > lastTriesMs) {
        abandoned++;
        return call;
      }
      await sleep(retryMs * (1 + Math.random() / 2));
    }
  };
  const person = (more: Json = {}) => ({
    ...{ first_name: 'Ada', last_name: 'Lovelace', email: newEmail(), city: newText('w') },
    ...more,
  });
  const walk = async (caller: Caller, by: string, first: string, between?: (page: Json) => Promise<void>) => {
    for (let cursor = ''; ; ) {
      const call = await ask(caller, by, `GET ${first}${cursor && `&cursor=${cursor}`}`);
      const page = isDone(call) ? jsonOf(call) : undefined;
      if (page?.nextCursor) cursor = page.nextCursor;
      if (page && !page.hasMore) return cursor;
      if (!page && (by !== 'auditor' || statusOf(call) === 404)) return '';
      await (page && between ? between(page) : sleep(page ? 0 : 200));
    }
  };

  const begin = (work: Promise<unknown>): void => {
    const one: Promise<void> = work.then(() => {}).finally(() => open.delete(one));
    open.add(one);
  };
  const every = async (perSecond: number, next: (at: number) => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now();
    for (let at = 0; !stopped; at++) {
      const waitMs = startedMs + (at * 1000) / perSecond - performance.now();
      if (waitMs > 1) await sleep(waitMs);
      if (open.size < maxInFlight) begin(next(at));
    }
  };
  const repeatedly = async (
    dice: Dice,
    pauseMs: number,
    step: (dice: Dice) => Promise<unknown>,
  ): Promise<void> => {
    while (!stopped) {
      await step(dice);
      await sleep((pauseMs / 2 + dice.below(pauseMs)) / share);
    }
  };

  const clientsOf = (caller: Caller, hot: readonly number[], dice: Dice): Promise<void>[] => {
    /** Reads a record and changes what it read; two of them meet on the same records. */
    const edit = (by: string) => async (dice: Dice) => {
      const path = `/integrations/clients/${dice.pick(hot)}`;
      const read = await ask(caller, by, `GET ${path}`);
      if (!isDone(read)) return;
      const condition = dice.oneIn(4) ? {} : { 'If-Match': `"${jsonOf(read).version}"` };
      await ask(caller, by, `PATCH ${path}`, { city: newText('w') }, condition);
    };
    /** Records that refer to others, some of which are erased. */
    const link = async (dice: Dice) => {
      const by = 'linker';
      const names = { first_name: 'Lise', last_name: 'Meitner', email: newEmail() };
      const made = await ask(caller, by, 'POST /integrations/affiliates', {
        ...names,
        affiliate_company_name: newText('w'),
      });
      if (!isDone(made)) return;
      const body = person({ affiliate_id: jsonOf(made).employee_id, external_id: newText('x') });
      const client = await ask(caller, by, 'POST /integrations/clients', body);
      if (!isDone(client)) return;
      const id: number = jsonOf(client).client_id;
      await ask(caller, by, `POST /integrations/clients/${id}/notes`, { text: newText('w') });
      if (dice.oneIn(2)) return;
      const erased = await ask(caller, by, `DELETE /integrations/people/${id}`);
      if (statusOf(erased) !== 204) return;
      for (const path of [
        `people/${id}`,
        `people?external_id=${body.external_id}`,
        `clients/${id}/notes`,
        `clients/find?client_id=${id}`,
      ])
        await ask(caller, by, `GET /integrations/${path}`);
    };
    /** Requests that are sent twice, at once or one after the other. */
    const repeat = async (dice: Dice) => {
      const by = 'repeater';
      const headers = { 'Idempotency-Key': randomUUID() };
      const post = ['POST /integrations/clients', person()] as const;
      const kind = dice.below(4);
      if (kind === 0)
        await Promise.all([insist(caller, by, ...post, headers), ask(caller, by, ...post, headers)]);
      if (kind === 1)
        await insist(caller, by, ...post, headers).then(() => insist(caller, by, ...post, headers));
      if (kind === 2) {
        const same = { external_id: newText('x'), email: newEmail() };
        await Promise.all([1, 2, 3].map(() => insist(caller, by, post[0], person(same))));
      }
      const items = Array.from({ length: 4 }, () => person({ external_id: newText('x') }));
      if (kind === 3)
        await insist(caller, by, 'POST /integrations/clients/batch', { mode: 'create', items }, headers);
    };
    /** Changes a record of each page before it asks for the next. */
    const page = async (dice: Dice) => {
      await walk(caller, 'pager', '/integrations/people?limit=40', async ({ people }) => {
        const clients = people.filter(({ is_lead }: Json) => !is_lead);
        if (clients.length > 0)
          await ask(caller, 'pager', `PATCH /integrations/clients/${dice.pick<Json>(clients).client_id}`, {
            city: newText('w'),
          });
      });
    };
    const follow = (path: string, limits: readonly number[]) => {
      let cursor = '';
      return async (dice: Dice) => {
        for (;;) {
          const from = cursor && `&cursor=${cursor}`;
          const call = await ask(caller, 'follower', `GET ${path}limit=${dice.pick(limits)}${from}`);
          if (!isDone(call)) return false;
          cursor = jsonOf(call).nextCursor;
          if (!jsonOf(call).hasMore) return true;
        }
      };
    };
    const feeds = [
      follow('/integrations/changes?', [1_000, 30]),
      follow('/events?order=asc&include=meta&', [100]),
    ];
    followers.push(...feeds.map((feed) => () => feed(dice)));
    return [
      ...['editor', 'other editor'].map((by) => repeatedly(dice, 150, edit(by))),
      ...[1, 2].map(() => repeatedly(dice, 100, link)),
      repeatedly(dice, 300, repeat),
      repeatedly(dice, 300, page),
      ...feeds.map((feed) => repeatedly(dice, 100, feed)),
    ];
  };

  const followers: (() => Promise<boolean>)[] = [];
  const running: Promise<void>[] = [];
  for (const [at, caller] of creators.slice(0, observed).entries()) {
    const made = [person(), person(), person()].map((body) =>
      insist(caller, 'editor', 'POST /integrations/clients', { ...body, external_id: newText('x') }),
    );
    const hot = (await Promise.all(made)).map((call) => jsonOf(call).client_id);
    // More than the stock size of a NATS message in one page.
    for (let batch = 0; at === 0 && batch < 2; batch++) {
      const items = Array.from({ length: 80 }, () => ({
        client_id: hot[0],
        external_id: newText('x'),
        text: `${newText('w')} ${large}`,
      }));
      await insist(
        caller,
        'editor',
        'POST /integrations/clients/notes/batch',
        { mode: 'create', items },
        { 'Idempotency-Key': randomUUID() },
      );
    }
    running.push(...clientsOf(caller, hot, createDice(seed + at)));
  }
  running.push(
    every(createsPerSecond * share, (at) => {
      const body = person({ external_id: newText('x') });
      const kind = at % 5 === 4 ? 'leads' : 'clients';
      return insist(creators[at % creators.length]!, 'creator', `POST /integrations/${kind}`, body);
    }),
    ...limited.map((caller) =>
      every(lookupsPerSecond, () => ask(caller, 'reader', 'GET /integrations/lookups/employees')),
    ),
  );

  const audit = async (caller: Caller, at: number): Promise<void> => {
    const by = 'auditor';
    await walk(caller, by, '/integrations/people?limit=200');
    const erased = calls.filter(
      ({ method, company }) => method === 'DELETE' && company === caller.company,
    ).length;
    for (let tries = 0; ; tries++) {
      const first = calls.length;
      await walk(caller, by, '/events?order=asc&include=meta&limit=1000');
      const gone = calls
        .slice(first)
        .reduce(
          (sum, call) => sum + (JSON.stringify(jsonOf(call) ?? '').split('"erased":true').length - 1),
          0,
        );
      if (gone >= erased || tries === 30) break;
      // Payloads of events are erased within seconds.
      calls.splice(first);
      await sleep(500);
    }
    if (at >= observed) return;
    await walk(caller, by, '/integrations/affiliates?limit=200');
    await walk(caller, by, '/integrations/changes?limit=1000');
    const noted = calls
      .filter(({ company }) => company === caller.company)
      .flatMap(writesOf)
      .filter(({ kind }) => kind === 'note');
    for (const id of new Set(
      noted.map(({ call }) => /clients\/(\d+)\/notes$/.exec(call.path)?.[1] ?? call.body.client_id),
    ))
      if (
        !calls.some(
          ({ path, method, reply }) =>
            method === 'DELETE' &&
            path.endsWith(`/${id}`) &&
            !(reply instanceof Error) &&
            reply.status === 204,
        )
      )
        await walk(caller, by, `/integrations/clients/${id}/notes?limit=200`);
  };

  return {
    calls,
    failedShare: (ms) => {
      const sinceMs = performance.now() - ms;
      const recent = calls.slice(calls.findLastIndex(({ endedMs }) => endedMs < sinceMs) + 1);
      return recent.length === 0 ? 1 : recent.filter((one) => !isFine(one)).length / recent.length;
    },
    stop: async () => {
      stopped = true;
      stoppedMs = performance.now();
      await Promise.all(running);
      while (open.size > 0) await Promise.all(open);
      // To the end, now that nobody writes.
      for (const follow of followers)
        while (!(await follow()) && performance.now() - stoppedMs < 2 * lastTriesMs) await sleep(retryMs);
      return abandoned;
    },
    audit: async () => {
      for (const [at, caller] of creators.entries()) await audit(caller, at);
    },
    close: () => pool.destroy(),
  };
};
