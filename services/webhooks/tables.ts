import type {
  DeliveryAttemptRow,
  DeliveryMinutesRow,
  DeliveryQueueRow,
  DeliveryRow,
  ElapsedColumn,
  EventOutboxRow,
  IncidentRow,
  ReplayRow,
  SubscriptionChangeRow,
  SubscriptionRow,
} from '@causeway/deliveries';
import type { ClosedCompanyRow } from '@causeway/identity';
import type { AuditRow, MemberEndingRow, NoticeChannel, StoredEvent } from '@causeway/proto';
import type { IdempotencyTables } from '@causeway/runtime';
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/**
 * The tables that this service reads and writes: its own (`migrations/`); crm's event log, which it reads, and outbox,
 * which it empties; access's audit log, which it adds to, and revoked keys, which
 * it empties; and the idempotency keys that it shares with crm.
 */
export interface Tables extends IdempotencyTables {
  subscriptions: WithJson<
    WithDefaults<
      SubscriptionRow,
      | 'subscription_id'
      | 'enabled'
      | 'auto_disabled'
      | 'key_id'
      | 'expires_utc'
      | 'pace_limit'
      | 'pace_seconds'
      | 'paused_utc'
      | 'paused_by'
      | 'headers'
    >,
    'event_types' | 'conditions' | 'header_names'
  >;
  subscription_changes: WithDefaults<SubscriptionChangeRow, 'hold_utc' | 'resets_failures'>;
  delivery_queues: WithDefaults<
    DeliveryQueueRow,
    | 'consecutive_failures'
    | 'failed_attempts'
    | 'held_deliveries'
    | 'count_held_utc'
    | 'paced'
    | 'failing_since_utc'
    | 'first_status'
    | 'first_error'
  >;
  webhook_companies: {
    readonly company_id: number;
    readonly subscriptions_created: number;
    readonly verify_endpoints: Generated<number>;
  };
  notices: { readonly company_id: number; readonly cause: string; readonly detail: string };
  notice_channels: {
    readonly company_id: number;
    readonly channel: NoticeChannel;
    readonly url: string;
    readonly kinds: string;
    readonly secret: Buffer | null;
    readonly last_utc: Date | null;
    readonly last_status: number | null;
    readonly last_error: string | null;
    readonly updated_utc: Date;
  };
  missed_events: {
    readonly company_id: number;
    readonly subscription_id: number;
    readonly missed: number;
    readonly since_utc: Date;
  };
  deliveries: WithDefaults<DeliveryRow, 'replay_id' | 'state' | 'attempts'>;
  delivery_attempts: WithDefaults<DeliveryAttemptRow, 'replay_id' | 'response_truncated'>;
  replays: WithJson<
    WithDefaults<ReplayRow, 'replay_id' | 'state' | 'made' | 'succeeded' | 'failed' | 'position'>,
    'filter'
  >;
  incidents: IncidentRow;
  delivery_minutes: WithDefaults<DeliveryMinutesRow, 'succeeded' | 'failed' | ElapsedColumn>;
  events: WithDefaults<
    StoredEvent & { readonly sequence: number; readonly origin: string | null },
    'origin'
  > & {
    readonly client_id: GeneratedAlways<number | null>;
    readonly invoice_id: GeneratedAlways<number | null>;
    readonly email: GeneratedAlways<string | null>;
    readonly external_id: GeneratedAlways<string | null>;
  };
  event_sequences: { readonly company_id: number; readonly last_sequence: number };
  event_outbox: EventOutboxRow;
  audit_log: AuditRow & { audit_id: Generated<number> };
  key_revocations: { readonly company_id: number; readonly key_id: number; readonly revoked_utc: Date };
  member_endings: Readonly<MemberEndingRow>;
  delivery_shares: {
    readonly company_id: number;
    readonly share_id: number;
    readonly secret_hash: Buffer;
    readonly event_id: number;
    readonly subscription_id: number;
    readonly replay_id: number;
    readonly created_by: string;
    readonly created_by_id: number;
    readonly created_utc: Date;
    readonly expires_utc: Date;
    readonly opened: Generated<number>;
    readonly last_opened_utc: Date | null;
  };
  closed_companies: ClosedCompanyRow;
  sealed_keys: { readonly name: string; readonly sealed: Buffer };
}

/** What a closed company leaves in the tables of this service's migrations. */
export const emptiedTables = {
  deleted: [
    'subscriptions',
    'subscription_changes',
    'delivery_queues',
    'webhook_companies',
    'notice_channels',
    'missed_events',
    'delivery_shares',
    'replays',
    'incidents',
  ],
  dropped: ['deliveries', 'delivery_attempts', 'delivery_minutes'],
} as const;

export const tenantTables: ReadonlySet<keyof Tables> = new Set([
  ...emptiedTables.deleted,
  ...emptiedTables.dropped,
  'key_revocations',
  'member_endings',
  'notices',
  'events',
  'event_sequences',
  'event_outbox',
  'audit_log',
  'closed_companies',
  'idempotency_keys',
]);

type WithDefaults<Row, Name extends keyof Row> = {
  [Column in keyof Row]: Column extends Name ? Generated<Row[Column]> : Row[Column];
};

/** A JSON column: read as a value, written as JSON text. */
type WithJson<Row, Name extends keyof Row> = {
  [Column in keyof Row]: Column extends Name
    ? ColumnType<
        Row[Column],
        string | (null extends Row[Column] ? null | undefined : never),
        string | Extract<Row[Column], null>
      >
    : Row[Column];
};
