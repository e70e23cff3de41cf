import { type TestCallers, testCallers } from '@causeway/identity/testing';
import type { OperationId } from '@causeway/proto';
import {
  type Bus,
  connectBus,
  createLog,
  createMetrics,
  type Database,
  type LaneCall,
  type Metrics,
} from '@causeway/runtime';
import {
  cleanUp,
  type TestDatabase,
  type TestNats,
  testDatabase,
  testLane,
  testNats,
} from '@causeway/runtime/testing';
import { vi } from 'vitest';
import { createCrm } from '../service.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface BootedCrm {
  readonly db: Database<Tables>;
  ask(operation: OperationId, companyId: number, query?: Query): Promise<Asked>;
  /** Sends one action: the body as JSON, or as text if it is to be ill-formed. */
  act(operation: OperationId, companyId: number, body: unknown, recordId?: number | string): Promise<Asked>;
  /** The caller's connection; the services' own user may do everything here. */
  readonly bus: Bus;
  readonly database: TestDatabase;
  readonly nats: TestNats;
  readonly callers: TestCallers;
  /** Of all replicas together. */
  readonly metrics: Metrics;
  /** Makes one call per company in one tick, so that they form one batch. */
  askTogether(operation: OperationId, companyIds: readonly number[]): Promise<readonly Asked[]>;
}

export interface Asked {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it whole.
  readonly body: any;
}

type Query = string | Readonly<Record<string, string>>;

export const crmMigrations = [{ name: 'crm', folder: new URL('../migrations', import.meta.url).pathname }];

export const bootCrm = async ({ replicas = 1 } = {}): Promise<BootedCrm> => {
  const [database, nats] = await Promise.all([testDatabase({ folders: crmMigrations }), testNats()]);
  const { log } = createLog({ name: 'crm', instance: 'test', level: 'silent' });
  const db = database.connect<Tables>({ tenantTables });
  const bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
  const callers = await testCallers(bus);
  const metrics = createMetrics();
  const services = await Promise.all(
    Array.from({ length: replicas }, (_, at) =>
      createCrm({ bus, db: database.connect<Tables>({ tenantTables }), instance: `crm-${at}`, log, metrics }),
    ),
  );
  await vi.waitUntil(() => services.every((service) => service.ready()), { timeout: 10_000 });
  for (const service of services) cleanUp(() => service.drain());
  const send = testLane(bus, 'crm');

  const request = async (
    operation: OperationId,
    companyId: number,
    {
      query = '',
      body = new Uint8Array(),
      params = [],
    }: Partial<Pick<LaneCall, 'query' | 'body' | 'params'>>,
  ): Promise<Asked> => {
    const key = await callers.key(companyId);
    const answer = await send({ operation, tenant: companyId, caller: 1, params, query, body, key });
    return { status: answer.status, body: JSON.parse(String(answer.body)) };
  };
  const ask = (operation: OperationId, companyId: number, query: Query = ''): Promise<Asked> =>
    request(operation, companyId, {
      query: typeof query === 'string' ? query : new URLSearchParams(query).toString(),
    });
  return {
    db,
    bus,
    database,
    nats,
    callers,
    metrics,
    ask,
    act: (operation, companyId, body, recordId) =>
      request(operation, companyId, {
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
        params: recordId === undefined ? [] : [String(recordId)],
      }),
    askTogether: (operation, companyIds) =>
      Promise.all(companyIds.map((companyId) => ask(operation, companyId))),
  };
};
