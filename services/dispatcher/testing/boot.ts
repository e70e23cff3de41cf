import { randomBytes } from 'node:crypto';
import type { DeliveryKey } from '@causeway/deliveries';
import {
  type EventType,
  encodeEnvelope,
  eventSubject,
  leaseMs,
  originHeader,
  outboxLeaseMs,
  sequenceHeader,
  versionHeader,
} from '@causeway/proto';
import {
  type Bus,
  connectBus,
  createLog,
  createMetrics,
  type KeyRing,
  type Metrics,
  parseKeyRing,
  sealSecret,
} from '@causeway/runtime';
import { cleanUp, type TestDatabase, type TestNats, testDatabase, testNats } from '@causeway/runtime/testing';
import { headers as natsHeaders } from '@nats-io/transport-node';
import { createStream } from '../intake/stream.ts';
import { createDispatcher, type Dispatcher, type DispatcherOptions } from '../service.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface World {
  readonly database: TestDatabase;
  readonly nats: TestNats;
  readonly bus: Bus;
  readonly keyRing: KeyRing;
  readonly secret: string;
  start(options?: Partial<DispatcherOptions>): Promise<Dispatcher & { readonly metrics: Metrics }>;
  subscribe(url: string, more?: Record<string, unknown>): Promise<Subscription>;
  /** Publishes events as crm does, or writes their deliveries as waiting. */
  deliver(subscription: Subscription, count: number, options?: DeliverOptions): Promise<DeliveryKey[]>;
  /** In the order of the events. */
  deliveries(subscription: Subscription): Promise<DeliveryLine[]>;
  /** By state. Cheap enough to ask all the time while there are thousands. */
  states(subscription: Subscription): Promise<Readonly<Record<string, number>>>;
  attempts(subscription: Subscription): Promise<AttemptLine[]>;
  queue(
    subscription: Subscription,
  ): Promise<{ next_due_utc: Date | null; consecutive_failures: number } | undefined>;
  subscription(subscription: Subscription): Promise<{ enabled: number; disabled_reason: string | null }>;
}

export interface Subscription {
  readonly company_id: number;
  readonly subscription_id: number;
}

interface DeliverOptions {
  /** By the event's message, only as a row of the outbox, or due at once in its queue. */
  readonly by?: 'event' | 'outbox' | 'queue';
  /** As no release publishes: without this header. */
  readonly without?: typeof versionHeader | typeof sequenceHeader;
  readonly type?: EventType;
  readonly payload?: string;
  readonly replayId?: number;
  /** Under a lease that no process holds, as a killed process leaves its rows. */
  readonly silent?: boolean;
  readonly dueMs?: number;
}

interface DeliveryLine {
  readonly event_id: number;
  readonly state: string;
  readonly attempts: number;
  readonly due_utc: Date | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

interface AttemptLine {
  readonly event_id: number;
  readonly attempt: number;
  readonly started_utc: Date;
  readonly next_attempt_utc: Date | null;
  readonly status_code: number | null;
  readonly error_class: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into them.
  readonly [column: string]: any;
}

const folders = ['access', 'crm', 'webhooks'].map((name) => ({
  name,
  folder: new URL(`../../${name}/migrations`, import.meta.url).pathname,
}));

export const openWorld = async ({ withDays = true } = {}): Promise<World> => {
  const [database, nats] = await Promise.all([testDatabase({ folders, withDays }), testNats()]);
  const bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
  await createStream(bus, 1);
  const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });
  let company = 100;
  let sequence = 0;
  let started = 0;

  const rowsOf = <Row>(sql: string, { company_id, subscription_id }: Subscription): Promise<Row[]> =>
    database.query<Row>(`${sql}`, [company_id, subscription_id]);

  return {
    database,
    nats,
    bus,
    keyRing,
    secret,
    start: async (options = {}) => {
      const metrics = createMetrics();
      const ownBus = options.bus ?? (await connectBus({ url: nats.url, name: 'dispatcher' }));
      const dispatcher = await createDispatcher({
        db: database.connect<Tables>({ tenantTables }),
        beatDb: database.connect<Tables>({ tenantTables, poolSize: 1 }),
        instance: `dispatcher-${++started}`,
        keyRing,
        log,
        metrics,
        allowHttp: true,
        allowPrivate: true,
        timeoutMs: 10_000,
        probeIntervalMs: 100,
        ...options,
        bus: ownBus,
      });
      let drained: Promise<void> | undefined;
      const drain = (): Promise<void> => {
        drained ??= dispatcher.drain().finally(() => ownBus.close());
        return drained;
      };
      cleanUp(drain);
      return { drain, metrics };
    },
    subscribe: async (url, more = {}) => {
      const company_id = (more.company_id as number | undefined) ?? ++company;
      const row = {
        company_id,
        url,
        event_types: '["client.created"]',
        secret: sealSecret(keyRing, company_id, secret),
        created_utc: new Date(),
        updated_utc: new Date(),
        ...more,
      };
      await database.query('INSERT INTO subscriptions SET ?', [row]);
      const [made] = await database.query<Subscription>(
        'SELECT company_id, subscription_id FROM subscriptions WHERE company_id = ? ORDER BY 2 DESC LIMIT 1',
        [row.company_id],
      );
      await database.query('INSERT INTO delivery_queues (company_id, subscription_id) VALUES (?, ?)', [
        made!.company_id,
        made!.subscription_id,
      ]);
      return made!;
    },
    deliver: async ({ company_id, subscription_id }, count, options = {}) => {
      const {
        by = 'event',
        type = 'client.created',
        payload = '{"first_name":"Zoë"}',
        replayId = 0,
      } = options;
      const created = new Date();
      const due = new Date(
        options.dueMs ?? (by === 'queue' ? created.getTime() : created.getTime() + leaseMs),
      );
      const first = sequence + 1;
      sequence += count;
      const ids = Array.from({ length: count }, (_, at) => first + at);
      const keyOf = (event_id: number): DeliveryKey => ({
        company_id,
        event_id,
        subscription_id,
        replay_id: replayId,
        created_utc: created,
      });
      await database.query(
        'INSERT INTO events (company_id, sequence, created_utc, event_id, type, payload, origin) VALUES ?',
        [ids.map((id) => [company_id, id, created, id, type, payload, origin])],
      );
      if (by !== 'queue' && !options.silent) {
        const lease = new Date(created.getTime() + outboxLeaseMs);
        await database.query('INSERT INTO event_outbox VALUES ?', [
          ids.map((id) => [company_id, id, id, created, lease]),
        ]);
        // Raised each time, as tests change subscriptions in their rows.
        await database.query(
          `INSERT INTO event_sequences (company_id, last_sequence, subscriptions_version) VALUES (?, ?, 1)
           ON DUPLICATE KEY UPDATE subscriptions_version = subscriptions_version + 1`,
          [company_id, sequence],
        );
        const [{ version }] = (await database.query(
          'SELECT subscriptions_version AS version FROM event_sequences WHERE company_id = ?',
          [company_id],
        )) as unknown as [{ version: number }];
        if (by === 'event')
          for (const event_id of ids) {
            const headers = natsHeaders();
            headers.set(versionHeader, String(version));
            headers.set(sequenceHeader, String(event_id));
            headers.set(originHeader, origin);
            if (options.without) headers.delete(options.without);
            const event = { company_id, event_id, created_utc: created, type, payload: Buffer.from(payload) };
            bus.nc.publish(eventSubject(company_id, type), encodeEnvelope(event), { headers });
          }
        return ids.map(keyOf);
      }
      await database.query(
        'INSERT INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc, event_type, due_utc, updated_utc) VALUES ?',
        [ids.map((id) => [company_id, id, subscription_id, replayId, created, type, due, created])],
      );
      await database.query(
        `UPDATE delivery_queues SET next_due_utc = IF(consecutive_failures >= 5,
           COALESCE(next_due_utc, ?), LEAST(COALESCE(next_due_utc, ?), ?)) WHERE company_id = ? AND subscription_id = ?`,
        [due, due, due, company_id, subscription_id],
      );
      return ids.map(keyOf);
    },
    deliveries: (key) =>
      rowsOf(
        `SELECT event_id, state, attempts, due_utc, last_status, last_error FROM deliveries
         WHERE company_id = ? AND subscription_id = ? ORDER BY event_id`,
        key,
      ),
    states: async (key) => {
      const rows = await rowsOf<{ state: string; count: number }>(
        `SELECT state, COUNT(*) AS count FROM deliveries
         WHERE company_id = ? AND subscription_id = ? GROUP BY state`,
        key,
      );
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
    attempts: (key) =>
      rowsOf(
        `SELECT * FROM delivery_attempts WHERE company_id = ? AND subscription_id = ?
         ORDER BY event_id, attempt`,
        key,
      ),
    queue: async (key) =>
      (
        await rowsOf<{ next_due_utc: Date | null; consecutive_failures: number }>(
          `SELECT next_due_utc, consecutive_failures FROM delivery_queues
           WHERE company_id = ? AND subscription_id = ?`,
          key,
        )
      )[0],
    subscription: async (key) =>
      (
        await rowsOf<{ enabled: number; disabled_reason: string | null }>(
          'SELECT enabled, disabled_reason FROM subscriptions WHERE company_id = ? AND subscription_id = ?',
          key,
        )
      )[0]!,
  };
};

/** Who causes every event of these tests. */
export const origin = 'key:12';

export const countOf = async ({ registry }: Metrics, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await registry.metrics())?.[1]);
