import { type TestCallers, testCallers } from '@causeway/identity/testing';
import type { OperationId } from '@causeway/proto';
import {
  type Bus,
  connectBus,
  createLog,
  createMetrics,
  type Database,
  type LaneAnswer,
  type LaneCall,
  type Metrics,
  randomHex,
} from '@causeway/runtime';
import {
  cleanUp,
  type TestDatabase,
  type TestNats,
  testDatabase,
  testLane,
  testNats,
  until,
} from '@causeway/runtime/testing';
import { createCrm } from '../service.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface BootedCrm {
  readonly db: Database<Tables>;
  ask(operation: OperationId, companyId: number, query?: Query, recordId?: number): Promise<Asked>;
  /** Sends one action: the body as JSON, or as text if it is to be ill-formed. */
  act(operation: OperationId, companyId: number, body: unknown, recordId?: number | string): Promise<Asked>;
  /** One call with all that it may have. */
  call(
    operation: OperationId,
    companyId: number,
    parts: Partial<LaneCall>,
  ): Promise<Asked & Pick<LaneAnswer, 'headers'> & { readonly text: string }>;
  /** An action as the gateway sends it: with an id of its own. */
  write(
    operation: OperationId,
    companyId: number,
    body: unknown,
    more?: Partial<LaneCall> & { readonly recordId?: number },
  ): Promise<Written>;
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

export interface Written extends Asked {
  readonly text: string;
  readonly isReplayed: boolean;
}

export const newCallId = (): string => Date.now().toString(16).padStart(12, '0') + randomHex(10);

type Query = string | Readonly<Record<string, string>>;

export const crmMigrations = [{ name: 'crm', folder: new URL('../migrations', import.meta.url).pathname }];

const everyMigration = ['access', 'crm', 'webhooks'].map((name) => ({
  name,
  folder: new URL(`../../${name}/migrations`, import.meta.url).pathname,
}));

/** @param tables whether those of the other services are there too. */
export const bootCrm = async ({
  replicas = 1,
  tables = 'own' as 'own' | 'all',
  now = () => new Date(),
} = {}): Promise<BootedCrm> => {
  const folders = tables === 'own' ? crmMigrations : everyMigration;
  const [database, nats] = await Promise.all([testDatabase({ folders }), testNats()]);
  const { log } = createLog({ name: 'crm', instance: 'test', level: 'silent' });
  const db = database.connect<Tables>({ tenantTables });
  const bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
  const callers = await testCallers(bus);
  const metrics = createMetrics();
  const services = await Promise.all(
    Array.from({ length: replicas }, (_, _at) =>
      createCrm({
        ...{ bus, db: database.connect<Tables>({ tenantTables }), log, metrics, now },
      }),
    ),
  );
  await until('readiness', () => services.every((service) => service.ready()));
  for (const service of services) cleanUp(() => service.drain());
  const send = testLane(bus, 'crm');

  const call: BootedCrm['call'] = async (operation, companyId, parts) => {
    const { query = '', body = new Uint8Array(), params = [], ...rest } = parts;
    const key = await callers.key(companyId);
    const sent = { operation, tenant: companyId, caller: 1, params, query, body, key, ...rest };
    const answer = await send(sent);
    const text = String(answer.body);
    return { ...answer, text, body: answer.status === 204 ? null : JSON.parse(text) };
  };
  const request = async (...args: Parameters<BootedCrm['call']>): Promise<Asked> => {
    const { status, body } = await call(...args);
    return { status, body };
  };
  const paramsOf = (recordId?: number | string) => (recordId === undefined ? [] : [String(recordId)]);
  const ask: BootedCrm['ask'] = (operation, companyId, query = '', recordId) =>
    request(operation, companyId, {
      query: typeof query === 'string' ? query : new URLSearchParams(query).toString(),
      params: paramsOf(recordId),
    });
  return {
    db,
    bus,
    database,
    nats,
    callers,
    metrics,
    ask,
    call,
    write: async (operation, companyId, body, { recordId, ...more } = {}) => {
      const { status, headers, ...answered } = await call(operation, companyId, {
        body: Buffer.from(JSON.stringify(body)),
        params: paramsOf(recordId),
        callId: newCallId(),
        budgetMs: 15_000,
        ...more,
      });
      const isReplayed = headers?.['Idempotent-Replayed'] === 'true';
      return { status, body: answered.body, text: answered.text, isReplayed };
    },
    act: (operation, companyId, body, recordId) =>
      request(operation, companyId, {
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
        params: paramsOf(recordId),
      }),
    askTogether: (operation, companyIds) =>
      Promise.all(companyIds.map((companyId) => ask(operation, companyId))),
  };
};
