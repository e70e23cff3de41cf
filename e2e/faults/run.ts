import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { scopes } from '@causeway/proto';
import { until } from '@causeway/runtime/testing/until';
import { outcome } from '../api/support/clock.ts';
import { allDelivered } from '../api/support/delivered.ts';
import { type Documented, readDocument } from '../api/support/documented.ts';
import type { Json, Reply } from '../api/support/open.ts';
import { openTeam } from '../api/support/portal.ts';
import { allReady } from '../api/support/processes.ts';
import { seconds } from '../load/report.ts';
import { endedLeases } from './allowed-repeats.ts';
import type { Baseline } from './bounds.ts';
import { type Effects, effectsOf } from './effects.ts';
import type { Fault, Place } from './fault.ts';
import type { Attempt, Call, Subscribed, Told } from './history/call.ts';
import { complaintsOf } from './history/check.ts';
import { type Caller, startLoad } from './history/clients.ts';
import type { Receiver } from './receiver.ts';

export interface FaultResult extends Effects {
  readonly name: string;
  /** Details that became known during the fault. */
  readonly detail: string;
  readonly calls: readonly Call[];
}

export interface RunOptions {
  readonly createsPerSecond: number;
  /** How much of the load there is: 1 by default. */
  readonly share?: number;
  readonly baseline?: Baseline;
  /** Companies whose clients are created in turn; four by default. */
  readonly companies?: number;
  /** Other tests run on the machine too: nothing is judged that depends on its speed. */
  readonly isBusy?: boolean;
  /** Repeats the choices of an earlier run. */
  readonly seed?: number;
  readonly say: (line: string) => void;
}

/**
 * Used up after 12, 24, 36 and 48 seconds of a minute, so that some keys are below and some above their limit at any
 * time.
 */
const limits = [60, 120, 180, 240];
const pace = 15;
const warmUpMs = 4_000;
const calmMs = 3_000;
const calmWithinMs = 90_000;
const settleWithinMs = 150_000;

/** Runs one fault on the cluster under load, and checks the history of every client against the contract. */
export const runFault = async <At extends Place>(
  scene: At,
  receiver: Receiver,
  receiverUrl: string,
  fault: Fault<At>,
  options: RunOptions,
): Promise<FaultResult> => {
  const { createsPerSecond, share = 1, baseline, companies = 4, isBusy = false, say } = options;
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  const { world } = scene;
  await allReady(world);
  receiver.forget();
  const creators = await Promise.all(
    Array.from({ length: companies }, () => makeKey(scene, { read: unlimited, write: unlimited })),
  );
  const limited = await Promise.all(limits.map((limit) => makeKey(scene, { read: limit })));
  const subscribed: (Subscribed & { readonly isMeasured?: true })[] = [];
  for (const [at, caller] of creators.entries())
    subscribed.push(...(await subscribeAll(scene, caller, receiverUrl, at)));
  const members = await retry503(() =>
    openMembers(scene, receiverUrl).catch((cause) => {
      throw new Error('a member was answered 503', { cause });
    }),
  );
  const document = (await world.ask('/openapi.json')).json;
  const [startedMs, clockMs] = [Date.now(), Date.now() - performance.now()];
  await fault.prepare?.(scene);

  const load = await startLoad(world, { creators, limited, createsPerSecond, share, seed });
  const told = members.start();
  await sleep(warmUpMs);
  if (load.calls.length === 0) throw new Error('no request was answered before the fault');
  const actedMs = performance.now();
  const acted = (await fault.act(scene)) ?? '';
  await fault.restarted?.(scene);
  const restartMs = fault.restarted ? performance.now() - actedMs : 0;
  const detail = fault.restarted ? `restarted after ${seconds(restartMs)}` : acted;
  say(`  ${fault.name}${detail && `: ${detail}`}`);
  await sleep(fault.lastsMs);
  let healedMs = fault.lastsMs > 0 ? performance.now() : actedMs;
  const problems: string[] = [];
  const trying = async (what: string, work: Promise<unknown> | undefined): Promise<void> => {
    try {
      await work;
    } catch (error) {
      problems.push(`${what}: ${(error as Error).message}`);
    }
  };
  await trying('the fault did not heal', fault.heal?.(scene));
  if (fault.unnoticed) healedMs = performance.now();
  // Waits until the supervisor has noticed dead processes.
  await sleep(200);
  await trying('not all processes became ready', allReady(world));
  await trying(
    'requests kept failing',
    until('requests succeed', () => load.failedShare(calmMs) <= (isBusy ? 0.5 : 0), {
      timeoutMs: calmWithinMs,
      everyMs: 100,
    }),
  );
  const [abandoned] = await Promise.all([load.stop(), told.stop()]);
  const ids = creators.map(({ company }) => company);
  await trying('deliveries wait', allDelivered(world.sql, ids, { timeoutMs: settleWithinMs }));
  await trying('the fault could not be undone', fault.restore?.(scene));
  await trying('not all processes became ready', allReady(world));
  const trafficCalls = [...load.calls];
  await trying('the records could not be read', load.audit());
  await load.close();

  const measured = new Set(subscribed.filter(({ isMeasured }) => isMeasured).map(({ path }) => path));
  const run = { fault, isBusy, baseline, calls: trafficCalls, abandoned, measured, healedMs, restartMs };
  const effects = effectsOf(receiver, run);
  let notices: Told | undefined;
  await trying(
    'the notices could not be read',
    told.result(receiver).then((one) => {
      notices = one;
    }),
  );
  const history = {
    ...{ calls: load.calls, arrivals: receiver.arrivals, subscribed },
    attempts: await attemptsOf(scene, ids, clockMs),
    ...(notices && { told: notices }),
    // A starved dispatcher may be late without a fault.
    repeatsAllowed: fault.mayRepeat
      ? Infinity
      : await endedLeases(world, startedMs, isBusy || fault.lateWrites ? undefined : ['leases freed']),
    edge: fault.edge ?? false,
    receiverCut: fault.receiverCut ?? false,
    problemOf: problemsIn(document, readDocument(document)),
  };
  const broken = complaintsOf(history);
  return {
    name: fault.name,
    detail,
    calls: trafficCalls,
    ...effects,
    complaints: [
      ...problems,
      ...effects.complaints,
      ...broken,
      ...(broken.length > 0 ? [`repeat: npm run faults -- --seed ${seed} '${fault.name}'`] : []),
    ],
  };
};

const unlimited = 1_000_000_000;

/** For some seconds after the fault before, and at times on a busy machine, a change is answered 503. */
const retry503 = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 30 || !/answered 503/.test(String(error))) throw error;
      // A cluster under a fault may refuse what prepares the next one.
      await sleep(1_000);
    }
  }
};

const makeKey = (
  { world }: Place,
  keyLimits: { readonly read?: number; readonly write?: number },
): Promise<Caller> =>
  retry503(async () => {
    const { company_id } = await world.operator.ask('createCompany', { name: `Fault ${randomUUID()}` });
    await world.operator.ask('setLimits', { company_id, admin: unlimited, ...keyLimits });
    const { value } = await world.operator.ask('createKey', {
      company_id,
      name: 'fault',
      scopes: [...scopes],
    });
    return { company: company_id, key: value };
  });

/** The first company has a receiver that takes its time, the second one with a pace. */
const subscribeAll = async ({ world }: Place, { company, key }: Caller, url: string, at: number) => {
  const created = ['client.created', 'lead.created'];
  const wanted: { path: string; query?: string; eventTypes: string[]; isMeasured?: true; pace?: number }[] = [
    { path: `/${company}`, eventTypes: created, isMeasured: true },
    ...(at === 0
      ? [
          {
            path: `/${company}/slow`,
            query: '?delay=1000',
            eventTypes: [...created, 'affiliate.created'],
          },
        ]
      : []),
    ...(at === 1 ? [{ path: `/${company}/paced`, eventTypes: created, pace }] : []),
  ];
  const all: (Subscribed & { readonly isMeasured?: true })[] = [];
  for (const { path, query = '', eventTypes, isMeasured, pace: limit } of wanted) {
    const body = JSON.stringify({
      url: url + path + query,
      eventTypes,
      ...(limit && { pace: { limit, per: 'second' } }),
    });
    const { json } = await retry503(async () => {
      const reply = await world.ask('/webhooks/subscriptions', { method: 'POST', key, body });
      if (reply.status !== 201)
        throw new Error(`the subscription was answered ${reply.status}: ${reply.text}`);
      return reply;
    });
    const more = { ...(isMeasured && { isMeasured }), ...(limit && { pace: limit }) };
    all.push({ id: json.id, company, path, types: eventTypes, secret: json.signingSecret, ...more });
  }
  return all;
};

const roleChanges = 8;
const roleEveryMs = 4_000;
const noticesWithinMs = 60_000;

/** An owner who changes the role of a member again and again, of which the company's channel is told. */
const openMembers = async ({ world }: Place, url: string) => {
  const { owner, companyId, join } = await openTeam(world);
  const { id } = await join('viewer');
  const channel = { channel: 'webhook', url: `${url}/notices`, kinds: ['access_changed'] };
  const set = await owner.browser.ask('PATCH', '/notices/channels', channel);
  if (set.status !== 200) throw new Error(`the channel was answered ${set.status}`);
  /** But that the two joined, which is told first. */
  const list = async (): Promise<Told['notices']> => {
    const { json, status, text } = await owner.browser.ask('GET', '/notices?limit=100');
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
    const all: Told['notices'] = json.notices.filter(({ kind }: Json) => kind === 'access_changed');
    return all.toSorted((one, other) => one.id - other.id).slice(2);
  };
  return {
    start: () => {
      const changes: Call[] = [];
      const ending = new AbortController();
      const changing = (async () => {
        for (let at = 0; at < roleChanges && !ending.signal.aborted; ) {
          const sentMs = performance.now();
          const body = { role: at % 2 === 0 ? 'developer' : 'viewer' };
          const path = `/team/members/${id}`;
          const reply: Reply | Error = await outcome(owner.browser.ask('PATCH', path, body));
          changes.push({
            company: companyId,
            by: 'owner',
            key: '',
            method: 'PATCH',
            path,
            headers: {},
            body,
            sentMs,
            endedMs: performance.now(),
            reply,
          });
          // A change that was not answered is asked for again: to a role that the member has, nothing is told.
          if (!(reply instanceof Error) && reply.status === 200) at++;
          await sleep(roleEveryMs, undefined, { signal: ending.signal }).catch(() => {});
        }
      })();
      return {
        stop: () => {
          ending.abort();
          return changing;
        },
        result: async (receiver: Receiver): Promise<Told> => {
          const sure = changes.filter(
            ({ reply }) => !(reply instanceof Error) && reply.status === 200,
          ).length;
          const isTold = async () => {
            const notices = (await list().catch(() => undefined)) ?? [];
            const posted = receiver.arrivals
              .filter(({ path }) => path === '/notices')
              .flatMap(({ body }) => JSON.parse(body).payload.notices);
            return (
              notices.length >= sure && notices.every((one) => posted.some((other) => other.id === one.id))
            );
          };
          await outcome(until('the notices are told', isTold, { timeoutMs: noticesWithinMs, everyMs: 500 }));
          return { changes, notices: await list() };
        },
      };
    },
  };
};

const attemptsOf = async (
  { world }: Place,
  companies: readonly number[],
  clockMs: number,
): Promise<Attempt[]> => {
  const rows = await world.sql<Json>(
    'SELECT subscription_id, event_id, attempt, started_utc, elapsed_ms, error_class FROM delivery_attempts WHERE company_id IN (?)',
    [companies],
  );
  return rows.map((row) => ({
    ...{ subscription: row.subscription_id, id: String(row.event_id), attempt: row.attempt },
    ...{ startedMs: row.started_utc.getTime() - clockMs, elapsedMs: row.elapsed_ms, error: row.error_class },
  }));
};

/** Compares an answer with the operation in the document. */
const problemsIn = (document: Json, problemOf: Documented) => {
  const routes = Object.entries<Json>(document.paths).map(([path, item]) => ({
    item,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    isExact: !path.includes('{'),
  }));
  routes.sort((a, b) => Number(b.isExact) - Number(a.isExact));
  return ({ method, path, reply }: Call): string | undefined => {
    if (reply instanceof Error) return undefined;
    const route = routes.find(({ pattern }) => pattern.test(`/api/v1${path.split('?')[0]}`));
    return route && reply.status !== 204 ? problemOf(route.item[method.toLowerCase()], reply) : undefined;
  };
};
