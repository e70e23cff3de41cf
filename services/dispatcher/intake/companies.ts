import { isLive } from '@causeway/deliveries';
import { type EventType, outboxLeaseMs } from '@causeway/proto';
import { acrossTenants, type Database } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { QueueKey, SubscriptionTarget } from '../delivery.ts';
import type { Health } from '../health.ts';
import { ruleColumns } from '../store.ts';
import type { Tables } from '../tables.ts';

export interface Companies {
  /** Undefined without a copy of at least this version. */
  get(companyId: number, version: number): Company | undefined;
  load(companyIds: readonly number[]): Promise<void>;
}

export interface Company {
  subscribers(type: EventType): readonly Subscriber[];
}

export interface Subscriber extends QueueKey {
  readonly target: SubscriptionTarget;
}

/**
 * A copy is exact because it is versioned: a change of a subscription raises its company's version, in the
 * row that every event's transaction locks, and the event carries the version. A copy is also read again
 * after a minute, for changes behind the version, such as those of an operator in SQL, and when one of its
 * subscriptions expires.
 */
export const createCompanies = ({ db, now, nowMs, health }: CompaniesOptions): Companies => {
  /** The least recently used first. */
  const copies = new Map<number, Copy>();
  let subscriptions = 0;

  const forget = (companyId: number): void => {
    const copy = copies.get(companyId);
    if (!copy) return;
    subscriptions -= copy.size;
    copies.delete(companyId);
  };
  const keep = (companyId: number, copy: Copy): void => {
    // A slower read may end after a newer one. Versions do not tell: a failover of the database may have lost the latest.
    if ((copies.get(companyId)?.readMs ?? 0) > copy.readMs) return;
    forget(companyId);
    copies.set(companyId, copy);
    subscriptions += copy.size;
    for (const oldest of copies.keys()) {
      if (subscriptions <= maxSubscriptions || oldest === companyId) break;
      forget(oldest);
    }
  };

  return {
    get: (companyId, version) => {
      const copy = copies.get(companyId);
      const ageMs = copy ? nowMs() - copy.readMs : Infinity;
      if (!copy || copy.version < version || ageMs > maxAgeMs) return undefined;
      // Such an event was committed after the copy was read, since none outlasts its lease: a failover lost the version of the copy.
      if (copy.version > version && ageMs > outboxLeaseMs) return undefined;
      if (copy.expires && copy.expires <= now()) return undefined;
      copies.delete(companyId);
      copies.set(companyId, copy);
      return copy;
    },
    load: async (companyIds) => {
      const readMs = nowMs();
      const rows = await read(db, companyIds, now());
      for (const [companyId, found] of Map.groupBy(rows, (row) => row.company_id)) {
        const enabled = found.filter(isSubscription);
        for (const row of enabled) health.raise(row, row.consecutive_failures);
        keep(companyId, copyOf(found[0]!.version, enabled, readMs));
      }
    },
  };
};

const maxAgeMs = 60_000;
const maxSubscriptions = 50_000;

interface Copy extends Company {
  readonly version: number;
  readonly readMs: number;
  /** When the first of its subscriptions expires. */
  readonly expires: Date | undefined;
  /** A company without subscriptions takes room too. */
  readonly size: number;
}

const copyOf = (version: number, rows: readonly SubscriptionOfType[], readMs: number): Copy => {
  const byType = new Map<EventType, Subscriber[]>();
  let expires: Date | undefined;
  for (const { event_types, company_id, subscription_id, expires_utc, ...target } of rows) {
    if (expires_utc && (!expires || expires_utc < expires)) expires = expires_utc;
    const subscriber = { company_id, subscription_id, target };
    for (const type of event_types) {
      const others = byType.get(type);
      if (others) others.push(subscriber);
      else byType.set(type, [subscriber]);
    }
  }
  const size = 1 + rows.length;
  return { version, readMs, expires, size, subscribers: (type) => byType.get(type) ?? none };
};

const none: readonly Subscriber[] = [];

type SubscriptionOfType = QueueKey &
  SubscriptionTarget & { readonly event_types: readonly EventType[]; readonly expires_utc: Date | null };
type FoundRow = { readonly company_id: number; readonly version: number } & (
  | SubscriptionOfType
  | { readonly subscription_id: null }
);

const isSubscription = (row: FoundRow): row is FoundRow & SubscriptionOfType => row.subscription_id !== null;

/** One statement, so that versions and subscriptions are of one moment. */
const read = async (
  db: Database<Tables>,
  companyIds: readonly number[],
  now: Date,
): Promise<readonly FoundRow[]> => {
  const { rows } = await sql<FoundRow>`
    SELECT v.company_id, v.subscriptions_version AS version, s.subscription_id, s.event_types, s.url, s.secret,
      s.previous_secret, s.previous_secret_until, s.expires_utc, ${ruleColumns},
      COALESCE(q.consecutive_failures, 0) AS consecutive_failures
    FROM event_sequences AS v
    LEFT JOIN subscriptions AS s ON s.company_id = v.company_id AND ${isLive(now, 's.')}
    LEFT JOIN delivery_queues AS q
      ON q.company_id = s.company_id AND q.subscription_id = s.subscription_id
    WHERE v.company_id IN (${companyIds})`.execute(
    acrossTenants(db, 'a dispatcher reads the subscriptions of many companies in one batch'),
  );
  return rows;
};

interface CompaniesOptions extends Pick<Context, 'db' | 'now' | 'nowMs'> {
  readonly health: Pick<Health, 'raise'>;
}
