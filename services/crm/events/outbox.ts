import type { StoredEvent } from '@causeway/proto';
import {
  acrossTenants,
  type Bus,
  type Database,
  type Log,
  type Metrics,
  repeat,
  transaction,
} from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import type { EventStream } from './stream.ts';

/** Brings committed events into the stream. */
export interface Outbox {
  /** Sends them on their way; nobody waits for it. */
  publish(events: readonly StoredEvent[]): void;
  /** Publishes what has been left behind. @returns how many rows it found. */
  sweep(): Promise<number>;
  /** Waits for what is on its way and stops. */
  drain(): Promise<void>;
}

/**
 * An event is published when its transaction has been committed, and its outbox row deleted when the stream
 * has acknowledged it; many rows in one statement. Whatever is lost between the two leaves its row behind:
 * each replica looks every second for rows older than two seconds and publishes these again, under the same
 * message id, so that the stream takes none twice. A process may die, and a stream be lost, at any moment.
 */
export const openOutbox = ({
  bus,
  db,
  stream,
  log,
  metrics,
  now = () => new Date(),
}: OutboxOptions): Outbox => {
  let onTheirWay = 0;
  let stored: Key[] = [];
  let deletions = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let idle: (() => void) | undefined;
  const count = (name: string, help: string) => metrics?.counter(name, help).cell();
  const published = count('crm_events_published_total', 'Events that the stream has acknowledged');
  const failed = count('crm_events_publish_failed_total', 'Publications without an acknowledgement');
  const swept = count('crm_events_swept_total', 'Events that the sweeper found unpublished');

  const deleteStored = (): void => {
    timer = undefined;
    const keys = stored;
    stored = [];
    deletions = deletions.then(async () => {
      for (let at = 0; at < keys.length; at += keysPerDelete) {
        try {
          await deleteRows(db, keys.slice(at, at + keysPerDelete));
        } catch (error) {
          log.warn({ error }, 'published events stay in the outbox; they will be published again');
        }
      }
    });
  };

  const send = async (event: StoredEvent): Promise<boolean> => {
    try {
      await stream.publish(event);
      if (published) published.value++;
      return true;
    } catch (error) {
      if (failed) failed.value++;
      log.debug({ error, event: event.event_id }, 'event not published');
      return false;
    }
  };

  const sweep = async (): Promise<number> => {
    if (!bus.connected()) return 0;
    const before = new Date(now().getTime() - graceMs);
    const found = await transaction(db, async (trx) => {
      const rows = await leftBehind(acrossTenants(trx, 'the sweeper looks for unpublished events'), before);
      if (rows.length === 0) return 0;
      const events = await readRows(trx, rows);
      const sent = await Promise.all(events.map(send));
      const missing = rows.filter((row) => !events.some(({ event_id }) => event_id === row.event_id));
      const done = events.filter((_, at) => sent[at]);
      // An outbox row may outlive its event where retention is shorter than an outage.
      await deleteRows(trx, [...done, ...missing]);
      if (done.length === 0) await stream.ensure();
      return done.length === 0 ? 0 : rows.length;
    });
    if (swept) swept.value += found;
    if (found > 0) log.info({ events: found }, 'published events that had been left behind');
    return found;
  };

  const sweeper = repeat(sweep, {
    pauseMs: sweepEveryMs,
    onError: (error) => log.warn({ error }, 'sweep failed'),
  });

  return {
    publish: (events) => {
      for (const event of events) {
        // Beyond the bound, or without a connection, the sweeper takes it.
        if (onTheirWay >= maxOnTheirWay || !bus.connected()) continue;
        onTheirWay++;
        void send(event).then((done) => {
          onTheirWay--;
          if (done) {
            stored.push(event);
            timer ??= setTimeout(deleteStored, gatherMs);
          }
          if (onTheirWay === 0) idle?.();
        });
      }
    },
    sweep,
    drain: async () => {
      await sweeper.stop();
      if (onTheirWay > 0) await new Promise<void>((resolve) => (idle = resolve));
      clearTimeout(timer);
      deleteStored();
      await deletions;
    },
  };
};

/** Rows are deleted this long after their acknowledgement, together with all that came in between. */
const gatherMs = 100;
const keysPerDelete = 250;
const maxOnTheirWay = 4096;
const graceMs = 2_000;
const sweepEveryMs = 1_000;
const rowsPerSweep = 500;

interface Key {
  readonly company_id: number;
  readonly event_id: number;
}

const deleteRows = async (db: Kysely<Tables>, keys: readonly Key[]): Promise<void> => {
  if (keys.length === 0) return;
  await db
    .deleteFrom('event_outbox')
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('company_id', 'event_id'),
        'in',
        keys.map(({ company_id, event_id }) => tuple(company_id, event_id)),
      ),
    )
    .execute();
};

/** Rows that another sweeper holds are its own. */
const leftBehind = (db: Kysely<Tables>, before: Date) =>
  db
    .selectFrom('event_outbox')
    .select(['company_id', 'event_id', 'sequence'])
    .where('created_utc', '<', before)
    .limit(rowsPerSweep)
    .forUpdate()
    .skipLocked()
    .execute();

const readRows = (db: Kysely<Tables>, rows: readonly { company_id: number; sequence: number }[]) =>
  db
    .selectFrom('events')
    .select(['company_id', 'event_id', 'type', 'created_utc', 'payload'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('company_id', 'sequence'),
        'in',
        rows.map(({ company_id, sequence }) => tuple(company_id, sequence)),
      ),
    )
    .execute();

export interface OutboxOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly stream: EventStream;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly now?: () => Date;
}
