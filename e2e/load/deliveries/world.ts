import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, type IngestAnswer, ingestSubject, samplePayload, scopes } from '@causeway/proto';
import { type Bus, connectBus } from '@causeway/runtime';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import { openOperator } from '../../../deploy/local/demo.ts';
import { freePort } from '../../../deploy/local/ports.ts';
import type { MysqlSizes } from '../../../deploy/local/servers.ts';
import { allDelivered, type Sql } from '../../api/support/delivered.ts';
import type { Processes } from '../cpu.ts';
import {
  type BenchCluster,
  type BenchContext,
  startBenchCluster,
  startBenchMysql,
  startChild,
} from '../driver.ts';
import type { Counted } from './receiver.ts';

/** A company whose API requests are not limited. */
export interface Tenant {
  readonly id: number;
  readonly key: string;
}

/** A cluster and a receiver, with tools to create events and count arrivals. */
export interface DeliveryWorld {
  readonly cluster: BenchCluster;
  readonly receiverUrl: string;
  readonly bus: Bus;
  /** All processes whose CPU time is reported. */
  readonly processes: Processes;
  tenants(count: number): Promise<readonly Tenant[]>;
  /** @param target a path below the receiver's address, where arrivals below `/counted/` are counted; or a URL. */
  subscribe(tenant: Tenant, target: string, eventTypes: readonly EventType[]): Promise<number>;
  count(brief?: boolean): Promise<Counted>;
  reset(): Promise<void>;
  /** Runs a statement that writes. */
  write(sql: string, values?: readonly unknown[]): Promise<void>;
  /** The column `n` of a query that returns one number. */
  number(sql: string): Promise<number>;
  /** Resolves when every event is fanned out and no delivery waits. */
  settle(): Promise<void>;
}

export const startDeliveryWorld = async (
  { env, toolchain, onEnd }: BenchContext,
  { root, home, args, mysql: sizes }: DeliveryWorldOptions,
): Promise<DeliveryWorld> => {
  const mysql = await startBenchMysql(home, toolchain.mysqld, onEnd, sizes);
  const [receiverPort, askPort] = [await freePort(), await freePort()];
  const askUrl = `http://127.0.0.1:${askPort}`;
  const receiverUrl = `http://127.0.0.1:${receiverPort}`;
  const receiver = await startChild({
    name: 'the receiver',
    command: process.execPath,
    args: [join(import.meta.dirname, 'receiver.ts'), `${receiverPort}`, `${askPort}`],
    logFile: join(home, 'logs', 'receiver.log'),
  });
  onEnd(() => receiver.stop());
  await receiver.until(() =>
    fetch(`${askUrl}/count`).then(
      () => true as const,
      () => undefined,
    ),
  );
  const cluster = await startBenchCluster({
    root,
    home,
    env: {
      ...env,
      MYSQL_URL: mysql.url,
      RATE_LIMIT_READ: limit,
      RATE_LIMIT_WRITE: limit,
      RATE_LIMIT_ADMIN: limit,
    },
    port: await freePort(),
    args,
    onEnd,
  });
  const bus = await connectBus({ url: cluster.stack.natsUrl, name: 'operator' });
  onEnd(() => bus.close());
  const operator = await openOperator(cluster.stack.natsUrl);
  onEnd(() => operator.close());
  const db = createPool({ uri: mysql.url, connectionLimit: 2, timezone: 'Z' });
  onEnd(() => db.end());

  const sql: Sql = async (text, values = []) =>
    (await db.query<RowDataPacket[]>(text, [...values]))[0] as never;
  const number = async (text: string): Promise<number> => Number((await sql<{ n: number }>(text))[0]?.n);
  return {
    cluster,
    receiverUrl,
    bus,
    processes: new Map([...cluster.processes, ['mysql', mysql.pid], ['receiver', receiver.pid]]),
    tenants: (count) =>
      Promise.all(
        Array.from({ length: count }, async (_, at) => {
          const { company_id } = await operator.ask('createCompany', { name: `Bench ${at}` });
          const { value } = await operator.ask('createKey', {
            company_id,
            name: 'bench',
            scopes: [...scopes],
          });
          return { id: company_id, key: value };
        }),
      ),
    subscribe: async ({ key }, target, eventTypes) => {
      const response = await fetch(`${cluster.stack.baseUrl}/api/v1/webhooks/subscriptions`, {
        method: 'POST',
        headers: { 'x-api-key': key },
        body: JSON.stringify({ url: new URL(target, receiverUrl).href, eventTypes }),
      });
      const answer = (await response.json()) as { id: number };
      if (response.status !== 201) throw new Error(`no subscription: ${JSON.stringify(answer)}`);
      return answer.id;
    },
    count: async (brief = false) =>
      (await (await fetch(`${askUrl}/count${brief ? '?brief' : ''}`)).json()) as Counted,
    reset: async () => void (await fetch(`${askUrl}/reset`, { method: 'POST' })),
    write: async (text, values = []) => void (await sql(text, values)),
    number,
    settle: async () => void (await allDelivered(sql, 'all', { timeoutMs: Infinity, everyMs: 50 })),
  };
};

const limit = '1000000000';

interface DeliveryWorldOptions {
  /** The checkout whose cluster to start; the running one's by default. */
  readonly root?: string | undefined;
  readonly home: string;
  /** Additional arguments of `npm start`. */
  readonly args: readonly string[];
  readonly mysql?: MysqlSizes;
}

interface Pace {
  readonly width: number;
  readonly mayGoOn: (made: number) => boolean;
}

/** Creates events continuously, `width` at a time, while `mayGoOn` returns true; crm commits each before it answers. */
export const makeEvents = (
  bus: Bus,
  tenants: readonly Tenant[],
  pace: Pace,
): { made(): number; stop(): Promise<number> } => makeMany(ingestOf(bus, tenants), pace);

type MakeOne = (at: number) => Promise<unknown>;

const ingestOf = (bus: Bus, tenants: readonly Tenant[]): MakeOne => {
  const requests = tenants.map(({ id }) =>
    JSON.stringify({
      companyId: id,
      type: 'client.created',
      payload: samplePayload('client.created', new Date()),
    }),
  );
  return async (at) => {
    const message = await bus.nc.request(ingestSubject, requests[at % requests.length] as string, {
      timeout: 10_000,
    });
    const answer = message.json<IngestAnswer>();
    if ('error' in answer) throw new Error(answer.error);
  };
};

const makeMany = (makeOne: MakeOne, { width, mayGoOn }: Pace) => {
  let made = 0;
  let stopped = false;
  const loop = async (worker: number): Promise<void> => {
    for (let at = worker; !stopped; at++) {
      if (!mayGoOn(made)) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      await makeOne(at);
      made++;
    }
  };
  const loops = Array.from({ length: width }, (_, worker) => loop(worker));
  return {
    made: () => made,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      return made;
    },
  };
};

/** Makes what `makeOne` makes at a steady rate. @returns how many. */
export const makeSteadily = async (
  makeOne: MakeOne,
  perSecond: number,
  seconds: number,
  width = 8,
): Promise<number> => {
  const startedMs = performance.now();
  const many = makeMany(makeOne, {
    width,
    mayGoOn: (made) => made < ((performance.now() - startedMs) / 1000) * perSecond,
  });
  await sleep(seconds * 1000);
  return many.stop();
};

/** Creates events at a steady rate, for each tenant in turn. @returns how many. */
export const steadyEvents = (
  bus: Bus,
  tenants: readonly Tenant[],
  perSecond: number,
  seconds: number,
  width?: number,
): Promise<number> => makeSteadily(ingestOf(bus, tenants), perSecond, seconds, width);
