import { laneSubject, type OperationId, replyPrefix } from '@causeway/proto';
import { connectBus, createLaneClient, createLog, type Database } from '@causeway/runtime';
import { testDatabase, testNats } from '@causeway/runtime/testing';
import { afterAll } from 'vitest';
import { createCrm } from '../service.ts';
import { type Tables, tenantTables } from '../tables.ts';

/** The service on a MySQL and a NATS of its own, asked over its lane as a gateway does. */
export interface BootedCrm {
  readonly db: Database<Tables>;
  /** The answer's body, parsed. */
  ask(operation: OperationId, companyId: number, query?: Query): Promise<Asked>;
  /** As many calls as there are companies, in one tick and so in one batch. */
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
  const services = await Promise.all(
    Array.from({ length: replicas }, (_, at) =>
      createCrm({ bus, db: database.connect<Tables>({ tenantTables }), instance: `crm-${at}`, log }),
    ),
  );
  const lane = createLaneClient({
    bus,
    lane: 'crm',
    subject: laneSubject('crm'),
    replySubject: `${replyPrefix('gateway')}.test.crm`,
  });
  afterAll(async () => {
    for (const service of services) await service.drain();
    lane.close();
    await bus.close();
  });

  const ask = async (operation: OperationId, companyId: number, query: Query = ''): Promise<Asked> => {
    const { status, body } = await lane.request({
      operation,
      tenant: companyId,
      caller: 1,
      requestId: 'test',
      traceparent: '',
      budgetMs: 10_000,
      params: [],
      query: typeof query === 'string' ? query : new URLSearchParams(query).toString(),
      body: new Uint8Array(),
    });
    return { status, body: JSON.parse(String(body)) };
  };
  return {
    db,
    ask,
    askTogether: (operation, companyIds) =>
      Promise.all(companyIds.map((companyId) => ask(operation, companyId))),
  };
};
