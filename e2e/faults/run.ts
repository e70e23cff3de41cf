import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { scopes } from '@causeway/proto';
import { until } from '../api/support/clock.ts';
import { allDelivered } from '../api/support/delivered.ts';
import { readDocument } from '../api/support/documented.ts';
import { allReady } from '../api/support/processes.ts';
import { seconds } from '../load/report.ts';
import type { Arrivals } from './arrivals.ts';
import type { Fault, Place } from './fault.ts';
import { type Findings, judge } from './judge.ts';
import { type Creator, type Limited, type Sent, startTraffic } from './traffic.ts';

export interface FaultResult extends Findings {
  readonly name: string;
  /** Details that became known during the fault. */
  readonly detail: string;
  readonly sent: readonly Sent[];
}

export interface RunOptions {
  readonly createsPerSecond: number;
  /** Companies whose clients are created in turn; four by default. */
  readonly companies?: number;
  /** Other tests run on the machine too: nothing is judged that depends on its speed. */
  readonly isBusy?: boolean;
  readonly say: (line: string) => void;
}

/**
 * Used up after 12, 24, 36 and 48 seconds of a minute, so that some keys are below and some above their limit at any
 * time.
 */
const limits = [60, 120, 180, 240];
const lookupsPerSecond = 5;
const warmUpMs = 4_000;
const calmMs = 3_000;
const calmWithinMs = 90_000;
const settleWithinMs = 150_000;

/** Runs one fault on the cluster under load, and checks the result of every request. */
export const runFault = async <At extends Place>(
  scene: At,
  arrivals: Arrivals,
  receiverUrl: string,
  fault: Fault<At>,
  { createsPerSecond, companies = 4, isBusy = false, say }: RunOptions,
): Promise<FaultResult> => {
  const { world } = scene;
  await allReady(world);
  arrivals.forget();
  const creators = await Promise.all(Array.from({ length: companies }, () => makeCreator(scene)));
  const limited = await Promise.all(limits.map((limit) => makeLimited(scene, limit)));
  const subscribed = new Map<string, number>();
  for (const { company, key } of creators) {
    const path = `/${fault.name.replaceAll(/\W+/g, '-')}/${company}`;
    await subscribe(scene, key, receiverUrl + path);
    subscribed.set(path, company);
  }
  const document = (await world.ask('/openapi.json')).json;
  await fault.prepare?.(scene);

  const traffic = startTraffic(world, { creators, limited, createsPerSecond, lookupsPerSecond });
  await sleep(warmUpMs);
  if (traffic.sent.length === 0) throw new Error('no request was answered before the fault');
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
    until('requests succeed', () => traffic.failedShare(calmMs) <= (isBusy ? 0.5 : 0), {
      timeoutMs: calmWithinMs,
      everyMs: 100,
    }),
  );
  const abandoned = await traffic.stop();
  await trying(
    'deliveries wait',
    allDelivered(
      scene.world.sql,
      creators.map(({ company }) => company),
      { timeoutMs: settleWithinMs },
    ),
  );
  const run = { fault, isBusy, traffic, abandoned, subscribed, limited, healedMs, restartMs };
  const findings = await judge(world, arrivals, { json: document, problemOf: readDocument(document) }, run);
  await trying('the preparation could not be undone', fault.restore?.(scene));
  await trying('not all processes became ready', allReady(world));
  return {
    name: fault.name,
    detail,
    sent: traffic.sent,
    ...findings,
    complaints: [...problems, ...findings.complaints],
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

const makeKey = (place: Place, limits: KeyLimits): Promise<Creator> =>
  retry503(() => makeKeyAtOnce(place, limits));

interface KeyLimits {
  readonly read?: number;
  readonly write?: number;
}

const makeKeyAtOnce = async ({ world }: Place, limits: KeyLimits): Promise<Creator> => {
  const { company_id } = await world.operator.ask('createCompany', { name: `Fault ${randomUUID()}` });
  await world.operator.ask('setLimits', { company_id, admin: unlimited, ...limits });
  const { value } = await world.operator.ask('createKey', { company_id, name: 'fault', scopes: [...scopes] });
  return { company: company_id, key: value };
};

const makeCreator = (scene: Place): Promise<Creator> => makeKey(scene, { read: unlimited, write: unlimited });

const makeLimited = async (scene: Place, limit: number): Promise<Limited> => {
  const { key } = await makeKey(scene, { read: limit });
  return { key, limit };
};

const subscribe = ({ world }: Place, key: string, url: string): Promise<void> =>
  retry503(async () => {
    const body = JSON.stringify({ url, eventTypes: ['client.created'] });
    const reply = await world.ask('/webhooks/subscriptions', { method: 'POST', key, body });
    if (reply.status !== 201) throw new Error(`the subscription was answered ${reply.status}: ${reply.text}`);
  });
