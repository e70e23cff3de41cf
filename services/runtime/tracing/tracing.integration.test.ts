import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectBus } from '../bus.ts';
import { commonConfig, parseConfig } from '../config.ts';
import { transaction } from '../database/transaction.ts';
import { LaneError } from '../lanes/call.ts';
import { createLaneClient } from '../lanes/client.ts';
import { each, type LaneHandler, serveLane } from '../lanes/server.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { CollectedSpan, Collector } from '../testing/collector.ts';
import { cleanUp, testDatabase, testNats } from '../testing/index.ts';
import { startCollector } from '../testing/test-collector.ts';
import { createTracer } from './sdk.ts';
import { type Tracer, traced } from './tracer.ts';

interface Tables {
  accounts: { company_id: number; id?: number; name: string };
}
const database = await testDatabase({
  folders: [{ name: 'fixtures', folder: `${import.meta.dirname}/../database/testing/migrations` }],
});
const nats = await testNats();
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

const open = async (collector: Collector, name: string, env: NodeJS.ProcessEnv = {}) => {
  const metrics = createMetrics();
  const config = parseConfig(commonConfig, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env });
  const target = { ...config, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const tracer = createTracer(target, { name, instance: `${name}-1`, log, metrics });
  onTestFinished(() => tracer.close());
  return { tracer, metrics };
};

let lanes = 0;
const world = async ({ operations, env }: { operations: Handlers; env?: NodeJS.ProcessEnv }) => {
  const collector = await startCollector();
  const caller = await open(collector, 'caller', env);
  const service = await open(collector, 'service', env);
  const db = database.connect<Tables>({ tracer: service.tracer, poolSize: 1 });
  // A first use would set up the session of the connection within a trace.
  await db.ping();
  const lane = `traced${++lanes}`;
  const busOf = async (name: string) => {
    const bus = await connectBus({ url: nats.url, name });
    cleanUp(() => bus.close());
    return bus;
  };
  const server = await serveLane({
    bus: await busOf('callee'),
    lane,
    subject: `lane.${lane}`,
    instance: lane,
    handlers: operations(db, service.tracer),
    onUnknown: () => ({ status: 501, body: null }),
    onError: () => ({ status: 500, body: null }),
    tracer: service.tracer,
  });
  cleanUp(() => server.drain());
  const client = createLaneClient({
    bus: await busOf('caller'),
    lane,
    subject: `lane.${lane}`,
    replySubject: `reply.caller.${lane}`,
    tracer: caller.tracer,
  });
  cleanUp(() => client.close());
  const ask = (operation: string, traceparent: string, budgetMs = 5_000) =>
    client.request({
      operation,
      tenant: 7,
      caller: 3,
      requestId: 'r-1',
      traceparent,
      budgetMs,
      params: [],
      query: '',
      body: new Uint8Array(),
    });
  const spans = async (count: number): Promise<readonly CollectedSpan[]> => {
    await expect.poll(() => collector.spans.length).toBeGreaterThanOrEqual(count);
    return collector.spans;
  };
  return { ask, spans, collector, lane, caller, service };
};
type Handlers = (
  db: ReturnType<typeof database.connect<Tables>>,
  tracer: Tracer,
) => Record<string, LaneHandler>;

const contextOf = (id: number, flags = '01') =>
  `00-${id.toString(16).padStart(32, 'a')}-00000000000000b1-${flags}`;
const traceIdOf = (traceparent: string) => traceparent.slice(3, 35);
const named = (
  spans: readonly CollectedSpan[],
  name: string,
  kind?: CollectedSpan['kind'],
): CollectedSpan => {
  const found = spans.filter((span) => span.name === name && (!kind || span.kind === kind));
  expect(found, `${name} among ${spans.map((span) => span.name)}`).toHaveLength(1);
  return found[0]!;
};

describe('a request over a lane', () => {
  test('is one trace from the caller through the service to each statement of its transaction', async () => {
    const { ask, spans, lane } = await world({
      operations: (db) => ({
        make: each(async () => {
          await transaction(db, (trx) =>
            trx.insertInto('accounts').values({ company_id: 7, name: 'Grace Hopper' }).execute(),
          );
          return { status: 201, body: null };
        }),
      }),
    });
    await ask('make', contextOf(1));
    const all = await spans(4);
    const client = named(all, `${lane}/make`, 'client');
    const server = named(all, `${lane}/make`, 'server');
    const statements = ['BEGIN; INSERT accounts', 'COMMIT'].map((name) => named(all, name, 'client'));
    expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(contextOf(1))]));
    expect(client.parentSpanId).toBe('00000000000000b1');
    expect(server.parentSpanId).toBe(client.spanId);
    expect(statements.map(({ parentSpanId }) => parentSpanId)).toEqual(Array(2).fill(server.spanId));
    expect([client, server].map(({ resource }) => resource['service.name'])).toEqual(['caller', 'service']);
    expect(server.attributes).toMatchObject({
      'rpc.system.name': 'nats_lane',
      'rpc.method': `${lane}/make`,
      'rpc.response.status_code': '201',
      'causeway.company.id': 7,
    });
    expect(statements[0]!.attributes).toMatchObject({
      'db.system.name': 'mysql',
      'db.namespace': database.name,
      'db.operation.name': 'BATCH',
      'db.operation.batch.size': 2,
      'db.query.text': expect.stringMatching(/^begin; insert into `accounts` .*values \(\?, \?\)$/),
    });
    expect(JSON.stringify(all)).not.toContain('Hopper');
  });

  test('has the error code of a failed statement, without the values in the message', async () => {
    const { ask, spans, lane } = await world({
      operations: (db) => ({
        make: each(async () => {
          const row = { company_id: 7, name: 'Ada Lovelace' };
          await db.insertInto('accounts').values([row, row]).execute();
          return { status: 201, body: null };
        }),
      }),
    });
    expect((await ask('make', contextOf(2))).status).toBe(500);
    const all = await spans(3);
    expect(named(all, 'INSERT accounts')).toMatchObject({
      failed: true,
      attributes: { 'error.type': 'ER_DUP_ENTRY', 'db.response.status_code': '1062' },
    });
    expect(named(all, `${lane}/make`, 'server')).toMatchObject({
      failed: true,
      attributes: { 'error.type': '500' },
    });
    expect(JSON.stringify(all)).not.toContain('Lovelace');
  });

  test('that is not answered in time fails at the caller', async () => {
    let answer = (): void => {};
    const { ask, spans, lane } = await world({
      operations: () => ({
        hang: each(async () => {
          await new Promise<void>((resolve) => (answer = resolve));
          return { status: 200, body: null };
        }),
      }),
    });
    onTestFinished(() => answer());
    await expect(ask('hang', contextOf(3), 200)).rejects.toThrow(LaneError);
    expect(named(await spans(1), `${lane}/hang`)).toMatchObject({
      kind: 'client',
      failed: true,
      attributes: { 'error.type': 'timeout' },
    });
  });
});

describe('a statement that serves many requests', () => {
  test('belongs to the first sampled request, and is linked to and from the others', async () => {
    const { ask, spans, lane } = await world({
      operations: (db) => ({
        list: (calls) => {
          const queried = sql`SELECT 1 FROM accounts LIMIT 1`.execute(db);
          return calls.map(async () => {
            await queried;
            return { status: 200, body: null };
          });
        },
      }),
    });
    await Promise.all([
      ask('list', contextOf(11, '00')),
      ask('list', contextOf(12)),
      ask('list', ''),
      ask('list', contextOf(13)),
    ]);
    const all = await spans(5);
    expect(all).toHaveLength(5);
    const server = (id: number) =>
      named(
        all.filter(({ traceId }) => traceId === traceIdOf(contextOf(id))),
        `${lane}/list`,
        'server',
      );
    const statement = named(all, 'SELECT accounts');
    expect(statement.parentSpanId).toBe(server(12).spanId);
    expect(statement.links).toEqual([server(13).spanId]);
    expect(server(13).links).toEqual([statement.spanId]);
    expect(server(12).links).toEqual([]);
  });

  test('does not exist for handlers that treat each call by itself: each call has its own', async () => {
    const { ask, spans } = await world({
      operations: (db) => ({
        one: each(async () => {
          await sql`SELECT 1 FROM accounts LIMIT 1`.execute(db);
          return { status: 200, body: null };
        }),
      }),
    });
    await Promise.all([21, 22].map((id) => ask('one', contextOf(id))));
    const statements = (await spans(6)).filter(({ name }) => name === 'SELECT accounts');
    expect(statements.map(({ traceId }) => traceId).sort()).toEqual(
      [21, 22].map((id) => traceIdOf(contextOf(id))),
    );
    expect(statements.flatMap(({ links }) => links)).toEqual([]);
  });

  test('is in no trace if it runs later and for no traced request', async () => {
    const queued: (() => Promise<unknown>)[] = [];
    const { ask, spans, collector } = await world({
      operations: (db, tracer) => ({
        // Like a queue whose first entry starts the work of all.
        later: each(async () => {
          queued.push(() =>
            traced(tracer, 'group', { kind: 'internal', parents: [undefined] }, () =>
              sql`SELECT 2`.execute(db),
            ),
          );
          await queued[0]!();
          return { status: 200, body: null };
        }),
      }),
    });
    await ask('later', contextOf(31));
    expect((await spans(2)).map(({ name }) => name)).not.toContain('SELECT');
    expect(collector.spans).toHaveLength(2);
  });
});

describe('which requests are traced', () => {
  const root = async (env: NodeJS.ProcessEnv, parents: readonly string[]): Promise<number> => {
    const collector = await startCollector();
    const { tracer } = await open(collector, 'edge', env);
    let sampled = 0;
    for (let at = 0; at < 200; at++) {
      const span = tracer.start('request', { kind: 'server', parents, root: true });
      if (span) sampled++;
      span?.end();
    }
    return sampled;
  };

  test.each([
    [{}, [''], 200],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, [''], 0],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, [contextOf(41)], 200],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, [contextOf(41, '00')], 0],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, [contextOf(41, '00')], 200],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, [contextOf(41)], 0],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, [''], 0],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1' }, [''], 200],
  ])('with %j, of 200 requests with %j this many are traced: %i', async (env, parents, expected) => {
    expect(await root(env, parents)).toBe(expected);
  });

  test('a ratio samples a share of requests', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
    // Outside these bounds once in 10^12 runs.
    const sampled = await root(env, ['']);
    expect(sampled).toBeGreaterThan(50);
    expect(sampled).toBeLessThan(150);
  });

  test('work that is not an entry point starts no trace', async () => {
    const { tracer } = await open(await startCollector(), 'worker', { OTEL_TRACES_SAMPLER: 'always_on' });
    expect(tracer.start('work', { kind: 'internal', parents: ['', undefined, 'nonsense'] })).toBeUndefined();
  });
});

describe('a collector', () => {
  const counted = async (metrics: ReturnType<typeof createMetrics>, name: string): Promise<number> => {
    const values = (await metrics.registry.getSingleMetric(name)?.get())?.values ?? [];
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const make = (tracer: Tracer, count: number): void => {
    for (let at = 0; at < count; at++)
      tracer.start('one', { kind: 'internal', parents: [], root: true })?.end();
  };

  test('that hangs loses spans beyond a bound, and delays nothing', async () => {
    const collector = await startCollector();
    collector.behave('hang');
    const { tracer, metrics } = await open(collector, 'busy');
    make(tracer, 10_000);
    expect(await counted(metrics, 'traces_spans_dropped_total')).toBe(10_000 - 4_096);
    const startedMs = performance.now();
    await tracer.close();
    expect(performance.now() - startedMs).toBeLessThan(6_000);
  });

  test('that refuses spans is counted, and gets the next ones', async () => {
    const collector = await startCollector();
    collector.behave('refuse');
    const { tracer, metrics } = await open(collector, 'busy');
    make(tracer, 300);
    await expect.poll(() => counted(metrics, 'traces_spans_dropped_total')).toBe(300);
    collector.behave('take');
    make(tracer, 5_000);
    await tracer.close();
    // More spans were created at once than may wait.
    expect(collector.spans.length).toBe(4_096);
  });
});
