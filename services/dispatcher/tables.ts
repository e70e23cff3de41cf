import type {
  DeliveryAttemptRow,
  DeliveryMinutesRow,
  DeliveryQueueRow,
  DeliveryRow,
  EventOutboxRow,
  IncidentRow,
  ReplayRow,
  SubscriptionChangeRow,
  SubscriptionRow,
} from '@causeway/deliveries';
import type { AuditRow, NoticeChannel, StoredEvent } from '@causeway/proto';

import type { Generated } from 'kysely';

/** services/webhooks/migrations, and three tables of crm's. */
export interface Tables {
  audit_log: AuditRow & { audit_id: Generated<number> };
  subscriptions: SubscriptionRow;
  subscription_changes: SubscriptionChangeRow;
  delivery_queues: DeliveryQueueRow;
  deliveries: DeliveryRow & {
    readonly leased_by: number | null;
  };
  dispatchers: {
    readonly dispatcher_id: Generated<number>;
    readonly instance: string;
    readonly beats: Generated<number>;
    readonly given_up_utc: Date | null;
    readonly open_until_utc: Date | null;
  };
  delivery_attempts: DeliveryAttemptRow;
  delivery_minutes: DeliveryMinutesRow;
  replays: ReplayRow;
  incidents: IncidentRow;
  missed_events: { readonly company_id: number; readonly subscription_id: number; readonly missed: number };
  events: StoredEvent & { readonly sequence: number; readonly origin: string | null };
  event_outbox: EventOutboxRow;
  notices: { readonly company_id: number };
  notice_channels: {
    readonly company_id: number;
    readonly channel: NoticeChannel;
    readonly url: string;
    readonly secret: Buffer | null;
    readonly last_utc: Date | null;
    readonly last_status: number | null;
    readonly last_error: string | null;
  };
  event_sequences: { readonly company_id: number; readonly subscriptions_version: number };
}

export const tenantTables: ReadonlySet<keyof Tables> = new Set([
  'subscriptions',
  'subscription_changes',
  'delivery_queues',
  'deliveries',
  'delivery_attempts',
  'delivery_minutes',
  'replays',
  'incidents',
  'missed_events',
  'events',
  'event_outbox',
  'event_sequences',
  'audit_log',
  'notices',
  'notice_channels',
]);
