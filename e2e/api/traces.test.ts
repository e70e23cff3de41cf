import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { scopes } from '@causeway/proto';
import { readEnv } from '@causeway/runtime';
import { type CollectedSpan, cleanUp, startCollector, withDatabase } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Pool } from 'undici';
import { describe, expect, test } from 'vitest';
import { startCluster } from '../../deploy/local/cluster.ts';
import { openOperator } from '../../deploy/local/demo.ts';
import { prepareHome } from '../../deploy/local/home.ts';
import { parseOptions } from '../../deploy/local/options.ts';
import { freePort } from '../../deploy/local/ports.ts';
import { terminalReport } from '../../deploy/local/report.ts';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { startPublishedReceiver } from './support/published.ts';
import { openWorld, type Reply, send } from './support/world.ts';

// What a collector receives from a cluster with tracing: a cluster and a database of this file's own.

const world = await openWorld();
const collector = await startCollector();
const receiver = await startPublishedReceiver(world);

const home = mkdtempSync(join(tmpdir(), 'causeway-test-traces-'));
prepareHome(home);
const database = `traces_${process.pid}`;
const cluster = await startCluster({
  root: resolve(import.meta.dirname, '../..'),
  home,
  env: {
    ...readEnv(),
    MYSQL_URL: withDatabase(world.stack().mysqlUrl, database),
    WEBHOOKS_RETRY_SCHEDULE: '200ms,400ms',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  },
  toolchain: readToolchain(readEnv()),
  options: parseOptions(['--port', String(await freePort())]),
  report: terminalReport,
  signal: new AbortController().signal,
});
cleanUp(async () => {
  await cluster.stop();
  await world.sql('DROP DATABASE ??', [database]);
  rmSync(home, { recursive: true, force: true });
});
const operator = await openOperator(cluster.stack.natsUrl);
cleanUp(() => operator.close());
const pool = new Pool(cluster.stack.baseUrl, { connections: 16 });
cleanUp(() => pool.destroy());

const { company_id } = await operator.ask('createCompany', { name: 'Traced' });
const { value: key } = await operator.ask('createKey', { company_id, name: 'test', scopes: [...scopes] });
const ask = (method: string, path: string, body?: unknown, traceparent?: string): Promise<Reply> =>
  send(pool, path, {
    method,
    key,
    ...(traceparent && { headers: { traceparent } }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

let traces = 0;
/** A trace of a test caller: the context that it sends, and the spans that the collector has of it. */
const newTrace = (flags = '01') => {
  const traceId = (0xace0000 + ++traces).toString(16).padStart(32, '0');
  const spans = (): readonly CollectedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  /** Processes send spans in batches, so a parent may arrive after its children. */
  const isWhole = (): boolean => {
    const ids = new Set([callerSpan, ...spans().map(({ spanId }) => spanId)]);
    return spans().every(({ parentSpanId }) => ids.has(parentSpanId));
  };
  return {
    traceparent: `00-${traceId}-${callerSpan}-${flags}`,
    spans,
    /** Resolves when the trace has spans of these names, and no parent is missing. */
    has: (...names: readonly string[]) =>
      until(
        `the trace has ${names}`,
        () => names.every((name) => spans().some((span) => span.name === name)) && isWhole(),
        { timeoutMs: 30_000 },
      ),
  };
};
const callerSpan = '00000000000000c1';

/** `name (service) > name (service) > …` from the first span down to each leaf. */
const pathsOf = (spans: readonly CollectedSpan[]): readonly string[] => {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const parents = new Set(spans.map(({ parentSpanId }) => parentSpanId));
  const pathOf = (span: CollectedSpan): string => {
    const parent = byId.get(span.parentSpanId);
    return `${parent ? `${pathOf(parent)} > ` : ''}${span.name} (${span.resource['service.name']})`;
  };
  return spans.filter(({ spanId }) => !parents.has(spanId)).map(pathOf);
};

const newClient = {
  first_name: 'Käthe',
  last_name: 'Kollwitz',
  email: 'kaethe@example.com',
  phone: '+49 30 12345',
};
const secretPath = '/hooks/s3cr3t-path?token=s3cr3t-query';
const subscribe = async (path: string, eventTypes: readonly string[]): Promise<Reply['json']> => {
  const made = await ask('POST', '/webhooks/subscriptions', { url: receiver.url + path, eventTypes });
  expect(made.status, made.text).toBe(201);
  return made.json;
};
const subscription = await subscribe(secretPath, ['client.created']);

const edge = 'POST /api/v1/integrations/clients (gateway)';
const call = `${edge} > crm/createClient (gateway) > crm/createClient (crm)`;
const delivered = `${call} > publish EVENTS (crm) > deliver event (dispatcher)`;
/** A dispatcher whose lease of the event is about to end checks first that no other has taken it. */
const withoutLeaseCheck = (path: string): string =>
  path.replace('> INSERT delivery_attempts', '> BEGIN; INSERT delivery_attempts');
/** The last spans of each process and each branch. */
const everything = ['POST /api/v1/integrations/clients', 'publish EVENTS', 'deliver event'];

describe('the trace of a created client', () => {
  test('leads from the gateway over the lane, the service and its statements, and the stream to the delivery', async () => {
    const trace = newTrace();
    const made = await ask('POST', '/integrations/clients', newClient, trace.traceparent);
    expect(made.status).toBe(201);
    await trace.has(...everything);
    const spans = trace.spans();
    expect(pathsOf(spans).map(withoutLeaseCheck)).toEqual(
      expect.arrayContaining([
        `${edge} > count request (gateway)`,
        ...[
          'BEGIN; SELECT company_settings; SELECT statuses; INSERT event_sequences; SELECT event_sequences',
          'INSERT clients; INSERT client_search_pending; INSERT idempotency_keys; INSERT events; INSERT event_outbox; COMMIT',
        ].map((statement) => `${call} > write group (crm) > ${statement} (crm)`),
        `${delivered} > POST (dispatcher)`,
        ...['BEGIN; INSERT delivery_attempts; INSERT deliveries; COMMIT'].map(
          (statement) => `${delivered} > record attempts (dispatcher) > ${statement} (dispatcher)`,
        ),
      ]),
    );
    // No span is detached: every span of the trace leads back to the request.
    expect(pathsOf(spans).filter((path) => !path.startsWith(edge))).toEqual([]);
    expect(spans.filter(({ failed }) => failed)).toEqual([]);
    const [first] = spans.filter(({ parentSpanId }) => parentSpanId === callerSpan);
    expect(first).toMatchObject({
      kind: 'server',
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/integrations/clients',
        'http.response.status_code': 201,
        'causeway.company.id': company_id,
        'causeway.request.id': made.headers['x-request-id'],
      },
    });
    const kinds = new Map(
      spans.map(({ name, kind, resource }) => [`${name} ${resource['service.name']}`, kind]),
    );
    expect(Object.fromEntries(kinds)).toMatchObject({
      'crm/createClient gateway': 'client',
      'crm/createClient crm': 'server',
      'publish EVENTS crm': 'producer',
      'deliver event dispatcher': 'consumer',
      'POST dispatcher': 'client',
    });
    const [post] = spans.filter(({ name }) => name === 'POST');
    expect(post?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'url.full': `${new URL(receiver.url).origin}/REDACTED`,
    });
    // The gateway's log entry names the span that the trace begins with.
    await until('the line is in the log', () =>
      readFileSync(join(home, 'logs', 'gateway-1.log'), 'utf8').includes(
        `"traceparent":"00-${first!.traceId}-${first!.spanId}-01"`,
      ),
    );
  });

  test('contains no personal data and no secrets, and is not passed to receivers', async () => {
    const trace = newTrace();
    await ask('POST', '/integrations/clients', { ...newClient, external_id: 'ext-4711' }, trace.traceparent);
    await trace.has(...everything);
    const told = JSON.stringify(collector.spans);
    const secrets = ['s3cr3t', 'Kollwitz', 'kaethe@', '12345', 'ext-4711', key, subscription.signingSecret];
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
    const [delivery] = receiver.received;
    expect(delivery!.headers['x-webhook-event']).toBe('client.created');
    expect(delivery!.headers.traceparent).toBeUndefined();
  });

  test('is complete even if many clients are created in one transaction and recorded together', async () => {
    const many = Array.from({ length: 12 }, () => newTrace());
    const made = await Promise.all(
      many.map(({ traceparent }) => ask('POST', '/integrations/clients', newClient, traceparent)),
    );
    expect(made.map(({ status }) => status)).toEqual(many.map(() => 201));
    await Promise.all(many.map((trace) => trace.has('publish EVENTS', 'deliver event')));
    const spans = many.map((trace) => trace.spans());
    for (const one of spans) {
      expect(pathsOf(one)).toContain(`${delivered} > POST (dispatcher)`);
      const ids = one
        .filter(({ name }) => /^publish|^deliver/.test(name))
        .map(({ attributes }) => attributes['messaging.message.id']);
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
    }
    // Shared spans are children of one of the calls; the others link to them.
    const groups = spans.flat().filter(({ name }) => name === 'write group');
    const calls = spans.flat().filter(({ name, kind }) => name === 'crm/createClient' && kind === 'server');
    const groupIds = new Set(groups.map(({ spanId }) => spanId));
    const inGroups = calls.filter(
      (one) =>
        groups.some(({ parentSpanId }) => parentSpanId === one.spanId) ||
        one.links.some((link) => groupIds.has(link)),
    );
    expect(calls).toHaveLength(many.length);
    expect(inGroups).toHaveLength(many.length);
    expect(groups.length + groups.flatMap(({ links }) => links).length).toBe(many.length);
  });
});

describe('which requests are traced', () => {
  test('a refused one has only its method and status', async () => {
    const trace = newTrace();
    const refused = await send(pool, '/integrations/clients/7', {
      headers: { traceparent: trace.traceparent },
    });
    expect(refused.status).toBe(401);
    await trace.has('GET');
    expect(trace.spans()).toMatchObject([
      { failed: false, attributes: { 'http.request.method': 'GET', 'http.response.status_code': 401 } },
    ]);
  });
});

describe('deliveries', () => {
  test('that are retried have traces of their own, linked to the same event', async () => {
    await subscribe('/again?fail=1', ['lead.created']);
    const trace = newTrace();
    const made = await ask('POST', '/integrations/leads', newClient, trace.traceparent);
    expect(made.status).toBe(201);
    await trace.has('deliver event');
    const [first] = trace.spans().filter(({ name }) => name === 'deliver event');
    const eventId = first!.attributes['messaging.message.id'];
    const [post] = trace.spans().filter(({ name }) => name === 'POST');
    expect(post).toMatchObject({ failed: true, attributes: { 'error.type': '500' } });
    const retry = await until('it is tried again', () =>
      collector.spans.find(
        ({ name, traceId, attributes }) =>
          name === 'deliver event' &&
          traceId !== first!.traceId &&
          attributes['messaging.message.id'] === eventId,
      ),
    );
    expect(retry.parentSpanId).toBe('');
    expect(retry.attributes).toMatchObject({ 'causeway.delivery.attempt': 2 });
    const again = await until('its post is there', () =>
      collector.spans.find(({ name, traceId }) => name === 'POST' && traceId === retry.traceId),
    );
    expect(again).toMatchObject({ failed: false, attributes: { 'http.request.resend_count': 1 } });
  });
});
