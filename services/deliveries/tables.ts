import type {
  AttemptFacts,
  DeliveryState,
  ErrorClass,
  EventType,
  elapsedBoundsMs,
  PayloadCondition,
  ReplayKind,
} from '@causeway/proto';

/** Rows of the tables that `webhooks` and `dispatcher` share (services/webhooks/migrations). */
export interface SubscriptionRow {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly name: string | null;
  readonly description: string | null;
  readonly url: string;
  readonly event_types: readonly EventType[];
  readonly enabled: number;
  readonly managed_by: string | null;
  readonly disabled_reason: string | null;
  readonly disabled_utc: Date | null;
  readonly auto_disabled: number;
  /**
   * Null: no challenge is needed. Otherwise the subscription is disabled until its receiver echoes a
   * challenge: the echo enables a `pending` subscription, but not a `required` one (contract, "Endpoint
   * verification").
   */
  readonly verification: 'pending' | 'required' | null;
  /** Null before the first challenge and after success. */
  readonly challenged_utc: Date | null;
  readonly challenge_failure: string | null;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: Date | null;
  readonly created_utc: Date;
  readonly updated_utc: Date;
  /** Of the tool that manages it. Null: none, or the key was revoked. */
  readonly key_id: number | null;
  /** It gets no events from then on, and is removed. Null: never. */
  readonly expires_utc: Date | null;
  /** Which events it gets, besides their types. Null: all. */
  readonly conditions: readonly PayloadCondition[] | null;
  /** At most so many attempts begin in any `pace_seconds`. Null: no limit. */
  readonly pace_limit: number | null;
  readonly pace_seconds: number | null;
  /** Its deliveries wait since then. Null: it is not paused. */
  readonly paused_utc: Date | null;
  readonly paused_by: string | null;
  /** Its own headers, sealed: the JSON of an object. */
  readonly headers: Buffer | null;
  readonly header_names: readonly string[] | null;
}

export interface DeliveryQueueRow {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly next_due_utc: Date | null;
  /** No probe begins earlier: the end of the back-off, or of the lease of a probe under way. */
  readonly probe_due_utc: Date | null;
  readonly consecutive_failures: number;
  /** Since the last success, including attempts that do not count as consecutive failures. */
  readonly failed_attempts: number;
  /** May be a few too high until `count_held_utc`, when the rows are counted. */
  readonly held_deliveries: number;
  readonly count_held_utc: Date | null;
  readonly probe_turn: number | null;
  /** Since the last success, the latest last. */
  readonly failed_types: readonly EventType[] | null;
  /** The first counted failure since the last success; null if there is none. */
  readonly failing_since_utc: Date | null;
  readonly first_status: number | null;
  readonly first_error: ErrorClass | null;
  /** See `queues/pace.ts` of the dispatcher. Null: none were granted. */
  readonly paced: unknown;
}

/** Contract, "Incidents". */
export interface IncidentRow {
  readonly company_id: number;
  readonly incident_id: number;
  readonly subscription_id: number;
  readonly since_utc: Date;
  readonly first_status: number | null;
  readonly first_error: ErrorClass;
  readonly broken_utc: Date;
  readonly recovered_utc: Date | null;
  readonly until_utc: Date | null;
}

export interface SubscriptionChangeRow {
  readonly company_id: number;
  readonly subscription_id: number;
  readonly changed_utc: Date;
  /** Waiting deliveries of events until then are to be held. */
  readonly hold_utc: Date | null;
  readonly resets_failures: number;
}

/** `created_utc` is the event's. */
export interface DeliveryKey {
  readonly company_id: number;
  readonly event_id: number;
  readonly subscription_id: number;
  readonly replay_id: number;
  readonly created_utc: Date;
}

export interface DeliveryRow extends DeliveryKey {
  readonly event_type: EventType;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly due_utc: Date | null;
  readonly last_status: number | null;
  readonly last_error: ErrorClass | null;
  readonly updated_utc: Date;
}

export type ElapsedColumn = `upto_${(typeof elapsedBoundsMs)[number]}` | 'above';

export type DeliveryMinutesRow = {
  readonly company_id: number;
  readonly minute_utc: Date;
  readonly subscription_id: number;
} & { readonly [Column in 'succeeded' | 'failed' | ElapsedColumn]: number };

export interface DeliveryAttemptRow extends DeliveryKey, AttemptFacts {
  readonly attempt: number;
  readonly next_attempt_utc: Date | null;
  /** The request (`requestHeadersOf`); `response_body` holds the response with its headers (`responseOf`). */
  readonly sent: Buffer;
}

/** crm writes the row with the event. */
export interface EventOutboxRow {
  readonly company_id: number;
  readonly event_id: number;
  readonly sequence: number;
  readonly created_utc: Date;
  /** The dispatcher that got the event's message acts until then. */
  readonly leased_until: Date;
}

export interface ReplayRow {
  readonly company_id: number;
  readonly replay_id: number;
  readonly subscription_id: number;
  readonly kind: ReplayKind;
  readonly filter: unknown;
  readonly state: 'running' | 'done' | 'cancelled';
  readonly total: number;
  readonly made: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly position: number;
  readonly next_page_utc: Date | null;
  readonly created_by: string | null;
  readonly created_utc: Date;
  readonly finished_utc: Date | null;
}
