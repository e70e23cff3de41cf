import { describe, expect, onTestFinished, test } from 'vitest';
import { connectBus } from '../bus.ts';
import { commonConfig, parseConfig } from '../config.ts';
import { createLaneClient } from '../lanes/client.ts';
import { each, type LaneHandler, serveLane } from '../lanes/server.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import type { CollectedSpan, Collector } from '../testing/collector.ts';
import { cleanUp, testDatabase, testNats } from '../testing/index.ts';
import { startCollector } from '../testing/test-collector.ts';
import { createTracer } from './sdk.ts';
import type { Tracer } from './tracer.ts';

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
