// Written by `npm run openapi -- --snapshot`.
import type { CallOptions, CreateOptions, Operation, ReadOptions, UpdateOptions, WriteOptions } from './options.ts';
import type { Pages } from './pages.ts';

export interface AddClientNoteRequest {
  /** May be repeated if it equals the path’s. */
  client_id?: number | undefined;
  text: string;
  note_type?: string | null | undefined;
  visibility?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface AffiliateCreated {
  employee_id: number;
  affiliate_code: string;
  is_approved: boolean;
  /** ISO 8601, UTC. */
  created_utc: string;
}

export interface AffiliateCreatedEvent {
  id: number;
  type: 'affiliate.created';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: AffiliateCreatedPayload;
}

export interface AffiliateCreatedPayload {
  employee_id: number;
  first_name: string;
  last_name: string;
  email: string;
  /** Empty if the affiliate has none. */
  phone: string;
  affiliate_code: string;
  affiliate_company_name: string | null;
  /** Per cent. */
  commission_rate: number | null;
  is_approved: boolean;
  /** ISO 8601, UTC. */
  created_date: string;
}

export interface AffiliateRecord {
  employee_id: number;
  first_name: string;
  last_name: string;
  email: string;
  phone: string | null;
  affiliate_code: string | null;
  commission_rate: number | null;
  affiliate_company_name: string | null;
  is_active: boolean;
  is_approved: boolean;
  external_id: string | null;
  /** ISO 8601, UTC. */
  created_utc: string;
  /** ISO 8601, UTC. */
  updated_utc: string;
  /** Rises with each change of a value. */
  version: number;
}

export interface AgreementSignedEvent {
  id: number;
  type: 'agreement.signed';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: AgreementSignedPayload;
}

export interface AgreementSignedPayload {
  agreement_id: number;
  client_id: number;
  agreement_name: string;
  signer_name: string;
  signer_email: string;
  /** ISO 8601, UTC. */
  signed_date: string;
}

/** The general shape of an error. */
export interface ApiError {
  /** What went wrong, in a sentence. */
  error: string;
  /** With 400: every problem of the request. The first one is also the main text. */
  details?: {
    field: string;
    /**
     * - `required`: A value is missing, null or blank.
     * - `unknown_field`: No field or parameter has this name.
     * - `read_only`: The field cannot be changed here, and its value is not the stored one.
     * - `too_long`: More characters, bytes, items, keys or levels than allowed.
     * - `too_short`: Fewer characters or items than needed.
     * - `invalid_characters`: Characters that are not allowed, or a text without the form it must have, such as a URL, a cursor or a time.
     * - `email_invalid`: Not an email address.
     * - `phone_invalid`: Not a phone number.
     * - `not_found`: The company has no such record or status.
     * - `wrong_kind`: A value of another JSON type, or a record or status of another kind.
     * - `inactive`: The record exists and is inactive.
     * - `in_use`: Another record has the value.
     * - `out_of_range`: A number, time, choice or other value that is not among those allowed.
     * - `not_json`: Not JSON in UTF-8.
     * - `must_agree`: It contradicts the path, another field or what is stored, or was given more than once.
     * - `empty_update`: The update has no field to change.
     */
    code: 'required' | 'unknown_field' | 'read_only' | 'too_long' | 'too_short' | 'invalid_characters' | 'email_invalid' | 'phone_invalid' | 'not_found' | 'wrong_kind' | 'inactive' | 'in_use' | 'out_of_range' | 'not_json' | 'must_agree' | 'empty_update';
    message: string;
    /** The lead or client that has the `external_id`. */
    conflicting_client_id?: number | undefined;
    /** The affiliate or employee that has the `external_id`. */
    conflicting_employee_id?: number | undefined;
  }[] | undefined;
  /** With 410, 412, 503 and 504, with a 409 or 422 for an `Idempotency-Key`, and with items of a batch. */
  reason?: 'lock_timeout' | 'keys_unavailable' | 'service_unavailable' | 'timeout' | 'network_not_allowed' | 'cursor_expired' | 'idempotency_in_progress' | 'idempotency_key_reused' | 'version_mismatch' | 'already_exists' | 'duplicate_item' | 'not_started' | undefined;
  /** With `lock_timeout`: seconds to wait. */
  retryAfter?: number | undefined;
  /** With 500. */
  requestId?: string | undefined;
  /** With `version_mismatch`: the version of the record. */
  version?: number | undefined;
  /** With `already_exists`: the lead or client. */
  client_id?: number | undefined;
  /** With `already_exists`: the affiliate. */
  employee_id?: number | undefined;
  /** With `already_exists`: the note. */
  client_note_id?: number | undefined;
  /** With `cursor_expired`: when the oldest event still in the log was created; null if there is none. */
  oldestUtc?: string | null | undefined;
  /** With `lock_timeout`: what to do. */
  message?: string | undefined;
  hint?: string | undefined;
  subscribedEventTypes?: string[] | undefined;
  managed_by?: string | undefined;
  is_tool_managed?: true | undefined;
  /** With 400: the quota that is used up. */
  quota?: 'subscriptions' | 'keys' | undefined;
  /** With `quota`: how many the company may have. */
  limit?: number | undefined;
  /** With 409 of a rotation: until when the previous secret also signs. */
  previousSecretUntil?: string | undefined;
}

export interface BatchAffiliatesAnswer {
  /** One for each item, in their order. */
  results: {
    index: number;
    /** The status that the operation for one record would answer. */
    status: number;
    /** The body that the operation for one record would answer. */
    body: { [name: string]: unknown };
    /** The problems of the fields that were left out; empty unless `invalid` is `drop_optional`. */
    dropped: {
      field: string;
      code: string;
      message: string;
    }[];
  }[];
}

export interface BatchAffiliatesRequest {
  mode: 'create' | 'update' | 'upsert';
  /** What happens to an item with an optional field that is not valid: it is refused, or the field is left out and named in `dropped`. `"refuse"` when absent. */
  invalid?: 'refuse' | 'drop_optional' | undefined;
  /** Each is the body of `POST /integrations/affiliates`, or, with `employee_id`, of `PATCH /integrations/affiliates/{employee_id}`. */
  items: { [name: string]: unknown }[];
}

export interface BatchClientsAnswer {
  /** One for each item, in their order. */
  results: {
    index: number;
    /** The status that the operation for one record would answer. */
    status: number;
    /** The body that the operation for one record would answer. */
    body: { [name: string]: unknown };
    /** The problems of the fields that were left out; empty unless `invalid` is `drop_optional`. */
    dropped: {
      field: string;
      code: string;
      message: string;
    }[];
  }[];
}

export interface BatchClientsRequest {
  mode: 'create' | 'update' | 'upsert';
  /** What happens to an item with an optional field that is not valid: it is refused, or the field is left out and named in `dropped`. `"refuse"` when absent. */
  invalid?: 'refuse' | 'drop_optional' | undefined;
  /** Each is the body of `POST /integrations/clients`, or, with `client_id`, of `PATCH /integrations/clients/{client_id}`. */
  items: { [name: string]: unknown }[];
}

export interface BatchLeadsAnswer {
  /** One for each item, in their order. */
  results: {
    index: number;
    /** The status that the operation for one record would answer. */
    status: number;
    /** The body that the operation for one record would answer. */
    body: { [name: string]: unknown };
    /** The problems of the fields that were left out; empty unless `invalid` is `drop_optional`. */
    dropped: {
      field: string;
      code: string;
      message: string;
    }[];
  }[];
}

export interface BatchLeadsRequest {
  mode: 'create' | 'update' | 'upsert';
  /** What happens to an item with an optional field that is not valid: it is refused, or the field is left out and named in `dropped`. `"refuse"` when absent. */
  invalid?: 'refuse' | 'drop_optional' | undefined;
  /** Each is the body of `POST /integrations/leads`, or, with `client_id`, of `PATCH /integrations/leads/{client_id}`. */
  items: { [name: string]: unknown }[];
}

export interface BatchNotesAnswer {
  /** One for each item, in their order. */
  results: {
    index: number;
    /** The status that the operation for one record would answer. */
    status: number;
    /** The body that the operation for one record would answer. */
    body: { [name: string]: unknown };
    /** The problems of the fields that were left out; empty unless `invalid` is `drop_optional`. */
    dropped: {
      field: string;
      code: string;
      message: string;
    }[];
  }[];
}

export interface BatchNotesRequest {
  mode: 'create';
  /** What happens to an item with an optional field that is not valid: it is refused, or the field is left out and named in `dropped`. `"refuse"` when absent. */
  invalid?: 'refuse' | 'drop_optional' | undefined;
  /** Each is the body of `POST /integrations/clients/{client_id}/notes`, with `client_id` among the fields. */
  items: { [name: string]: unknown }[];
}

export interface ClientCreatedEvent {
  id: number;
  type: 'client.created';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: ClientCreatedPayload;
}

export interface ClientCreatedPayload {
  client_id: number;
  first_name: string;
  last_name: string;
  email: string;
  /** Empty if the record has none. */
  phone: string;
  status: string;
  /** ISO 8601, UTC. */
  created_date: string;
}

export interface ClientStatusChangedEvent {
  id: number;
  type: 'client.status_changed';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: ClientStatusChangedPayload;
}

export interface ClientStatusChangedPayload {
  client_id: number;
  previous_status: string;
  new_status: string;
  /** ID of the employee who did it, if known. */
  changed_by_employee_id: number | null;
  status_note: string | null;
  /** ISO 8601, UTC. */
  changed_date: string;
}

export interface CreateAffiliateRequest {
  email: string;
  /** At least one visible character, no control characters. */
  first_name: string;
  /** At least one visible character, no control characters. */
  last_name: string;
  phone?: string | null | undefined;
  affiliate_code?: string | null | undefined;
  commission_rate?: number | null | undefined;
  affiliate_company_name?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface CreateClientRequest {
  /** At least one visible character, no control characters. */
  first_name: string;
  /** At least one visible character, no control characters. */
  last_name: string;
  email: string;
  phone?: string | null | undefined;
  status?: StatusRef | null | undefined;
  employee_id?: number | null | undefined;
  city?: string | null | undefined;
  state?: string | null | undefined;
  zip?: string | null | undefined;
  affiliate_id?: number | null | undefined;
  external_id?: string | null | undefined;
}

export interface CreateLeadRequest {
  /** At least one visible character, no control characters. */
  first_name: string;
  /** At least one visible character, no control characters. */
  last_name: string;
  email: string;
  phone?: string | null | undefined;
  status?: StatusRef | null | undefined;
  employee_id?: number | null | undefined;
  city?: string | null | undefined;
  state?: string | null | undefined;
  zip?: string | null | undefined;
  package_keyword?: string | null | undefined;
  affiliate_id?: number | null | undefined;
  external_id?: string | null | undefined;
}

export interface CreateSubscriptionReplayAnswer {
  id: number;
  subscriptionId: number;
  kind: 'resend' | 'failed' | 'missed' | 'filter' | 'release' | 'drop';
  filter: {
    eventId?: number | undefined;
    /** ISO 8601, UTC. */
    since?: string | undefined;
    /** ISO 8601, UTC. */
    until?: string | undefined;
    types?: EventType[] | undefined;
    states?: ('failed' | 'succeeded' | 'dropped')[] | undefined;
    statusCodes?: number[] | undefined;
    errorClasses?: ('dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'redirect' | 'blocked_address' | 'status')[] | undefined;
  };
  state: 'running' | 'done' | 'cancelled';
  /** Counted when the replay started. */
  total: number;
  /** Deliveries created, released or discarded so far. */
  made: number;
  /** Of those, delivered. */
  succeeded: number;
  /** Of those, failed or discarded. */
  failed: number;
  /** ISO 8601, UTC. */
  createdUtc: string;
  finishedUtc: string | null;
}

export interface CreateSubscriptionReplayRequest {
  /** `failed`: events whose last delivery failed. `missed`: events without an attempt, because the subscription was disabled or did not exist yet. `filter`: events by the `states` of their last deliveries. */
  kind: 'failed' | 'missed' | 'filter';
  /** Time of the events. Required unless `kind` is `filter`. */
  since?: string | undefined;
  /** Excluded. By default now. */
  until?: string | undefined;
  types?: EventType[] | undefined;
  /** Required if `kind` is `filter`, and only then allowed. */
  states?: ('failed' | 'succeeded' | 'dropped')[] | undefined;
  /** Of the last attempts. Only if `kind` is `filter`. */
  statusCodes?: number[] | undefined;
}

export interface CreateSubscriptionRequest {
  /** Absolute and https (http only where the installation allows it), with a host, and without user info, spaces or backslashes. The port is 443 or 8443, unless the installation allows others. */
  url: string;
  eventTypes: EventType[];
  /** `true` when absent. */
  enabled?: boolean | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
  /** Only events whose payload meets all of these conditions are delivered. Null: every event of the types. Each has one operator; `min` and `max` may be together. */
  conditions?: {
    /** A field of the payload of every subscribed type. */
    field: string;
    equals?: string | number | boolean | undefined;
    in?: (string | number | boolean)[] | undefined;
    exists?: boolean | undefined;
    startsWith?: string | undefined;
    min?: number | undefined;
    max?: number | undefined;
  }[] | null | undefined;
  /** At most so many attempts begin in any second, or any minute. Null: no such limit. */
  pace?: {
    limit: number;
    per: 'second' | 'minute';
  } | null | undefined;
  /** Headers of every delivery besides its own, by name. Their values are shown in no answer. An update changes the named ones, a null removes one, and null instead of all removes all. */
  headers?: { [name: string]: string | null } | null | undefined;
  managedBy?: string | null | undefined;
}

export interface CreateTestEventAnswer {
  id: number;
  type: EventType;
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: { [name: string]: unknown };
  subscriptionCount: number;
}

export interface CreateTestEventRequest {
  type: EventType;
  payload?: { [name: string]: unknown } | undefined;
}

/** The body of a delivery, by its `type`. */
export type Delivery = ClientCreatedEvent | ClientStatusChangedEvent | LeadCreatedEvent | InvoiceCreatedEvent | InvoiceStatusChangedEvent | PaymentSucceededEvent | PaymentFailedEvent | AffiliateCreatedEvent | DocumentUploadedEvent | AgreementSignedEvent | EndpointVerification;

export interface DiscardHeldDeliveriesAnswer {
  count: number;
}

export interface DocumentUploadedEvent {
  id: number;
  type: 'document.uploaded';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: DocumentUploadedPayload;
}

export interface DocumentUploadedPayload {
  document_id: number;
  client_id: number;
  file_name: string;
  content_type: string;
  size_bytes: number;
  /** ID of the employee who did it, if known. */
  uploaded_by_employee_id: number | null;
  /** ISO 8601, UTC. */
  uploaded_date: string;
}

export interface EndpointVerification {
  id: number;
  type: 'endpoint.verification';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: {
    challenge: string;
  };
}

export interface EndpointVerificationEcho {
  challenge: string;
}

export type EventType = 'client.created' | 'client.status_changed' | 'lead.created' | 'invoice.created' | 'invoice.status_changed' | 'payment.succeeded' | 'payment.failed' | 'affiliate.created' | 'document.uploaded' | 'agreement.signed';

export interface FindClientsAnswer {
  clients: Person[];
  /** Number of items in this answer. */
  count: number;
  /** True if more records match than the answer holds. */
  hasMore: boolean;
}

export interface FindLeadsAnswer {
  clients: Person[];
  /** Number of items in this answer. */
  count: number;
  /** True if more records match than the answer holds. */
  hasMore: boolean;
}

export interface GetMeAnswer {
  key: {
    id: number;
    name: string;
  };
  company: {
    id: number;
    name: string;
  };
  scopes: ('integrations:read' | 'integrations:write' | 'events:read' | 'webhooks:write' | 'admin')[];
  limits: {
    read: {
      /** Requests per minute. */
      limit: number;
      /** Requests of the key counted in the current minute, those that got 429 included. */
      used: number;
      /** When the minute ends. */
      resetUtc: string;
      /** With a temporary limit of the company, as for an import: when it ends. */
      untilUtc?: string | undefined;
    };
    write: {
      /** Requests per minute. */
      limit: number;
      /** Requests of the key counted in the current minute, those that got 429 included. */
      used: number;
      /** When the minute ends. */
      resetUtc: string;
      /** With a temporary limit of the company, as for an import: when it ends. */
      untilUtc?: string | undefined;
    };
    admin: {
      /** Requests per minute. */
      limit: number;
      /** Requests of the key counted in the current minute, those that got 429 included. */
      used: number;
      /** When the minute ends. */
      resetUtc: string;
      /** With a temporary limit of the company, as for an import: when it ends. */
      untilUtc?: string | undefined;
    };
    /** Absent if lookups are counted in the bucket read. */
    lookup?: {
      /** Requests per minute. */
      limit: number;
      /** Requests of the key counted in the current minute, those that got 429 included. */
      used: number;
      /** When the minute ends. */
      resetUtc: string;
      /** With a temporary limit of the company, as for an import: when it ends. */
      untilUtc?: string | undefined;
    } | undefined;
  };
}

export interface GetSubscriptionReplayAnswer {
  id: number;
  subscriptionId: number;
  kind: 'resend' | 'failed' | 'missed' | 'filter' | 'release' | 'drop';
  filter: {
    eventId?: number | undefined;
    /** ISO 8601, UTC. */
    since?: string | undefined;
    /** ISO 8601, UTC. */
    until?: string | undefined;
    types?: EventType[] | undefined;
    states?: ('failed' | 'succeeded' | 'dropped')[] | undefined;
    statusCodes?: number[] | undefined;
    errorClasses?: ('dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'redirect' | 'blocked_address' | 'status')[] | undefined;
  };
  state: 'running' | 'done' | 'cancelled';
  /** Counted when the replay started. */
  total: number;
  /** Deliveries created, released or discarded so far. */
  made: number;
  /** Of those, delivered. */
  succeeded: number;
  /** Of those, failed or discarded. */
  failed: number;
  /** ISO 8601, UTC. */
  createdUtc: string;
  finishedUtc: string | null;
}

export interface InvoiceCreatedEvent {
  id: number;
  type: 'invoice.created';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: InvoiceCreatedPayload;
}

export interface InvoiceCreatedPayload {
  invoice_id: number;
  client_id: number;
  invoice_number: string;
  /** In units of the currency, such as 129.5. */
  amount: number;
  /** ISO 4217, such as `USD`. */
  currency: string;
  status: string;
  /** ISO 8601, UTC. */
  due_date: string;
  /** ISO 8601, UTC. */
  created_date: string;
}

export interface InvoiceStatusChangedEvent {
  id: number;
  type: 'invoice.status_changed';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: InvoiceStatusChangedPayload;
}

export interface InvoiceStatusChangedPayload {
  invoice_id: number;
  client_id: number;
  previous_status: string;
  new_status: string;
  /** ISO 8601, UTC. */
  changed_date: string;
}

export interface LeadCreatedEvent {
  id: number;
  type: 'lead.created';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: LeadCreatedPayload;
}

export interface LeadCreatedPayload {
  client_id: number;
  first_name: string;
  last_name: string;
  email: string;
  /** Empty if the record has none. */
  phone: string;
  status: string;
  /** ISO 8601, UTC. */
  created_date: string;
}

export interface ListAffiliatesAnswer {
  affiliates: {
    /** The affiliate's employee ID. */
    affiliate_id: number;
    full_name: string;
  }[];
  /** Number of items in this answer. */
  count: number;
}

export interface ListAllAffiliatesAnswer {
  affiliates: AffiliateRecord[];
  /** Cursor of the next page; null at the end. */
  nextCursor: string | null;
  hasMore: boolean;
}

export interface ListChangesAnswer {
  changes: {
    /** Rises with each change in the company. */
    sequence: number;
    type: 'person' | 'affiliate' | 'note';
    /** The client_id, employee_id or client_note_id. */
    id: number;
    operation: 'upsert' | 'delete';
    /** Who made the change: `key:<id>`, `member:<id>`, `operator` or `system`. */
    origin: string;
    version: number;
    external_id: string | null;
    /** ISO 8601, UTC. */
    changed_utc: string;
    /** The whole record; null if it was deleted. */
    record: PersonRecord | AffiliateRecord | NoteRecord | null;
  }[];
  /** Never null, since changes may follow. */
  nextCursor: string;
  hasMore: boolean;
}

export interface ListClientStatusesAnswer {
  statuses: {
    status_id: number;
    status_name: string;
    /** True for lead statuses (the name starts with "Lead"). */
    is_lead: boolean;
    is_active: boolean;
    color_code: string;
  }[];
  /** Number of items in this answer. */
  count: number;
}

export interface ListEmployeesAnswer {
  employees: {
    employee_id: number;
    full_name: string;
  }[];
  /** Number of items in this answer. */
  count: number;
}

export interface ListEventsAnswer {
  /** Empty with `include=meta`. */
  events: WebhookEvent[];
  /** The events, in the place of `events`; only with `include=meta`. */
  entries?: {
    event: WebhookEvent;
    /** Who caused it: `key:<id>`, `member:<id>`, `operator` or `system`. Null: the release that wrote the event did not record it. */
    origin: string | null;
    /** Number of the event in its company, in the order of commits. */
    sequence: number;
  }[] | undefined;
  /** Cursor of the next page. Descending: null at the end. Ascending: never null, since new events may follow. */
  nextCursor: string | null;
  hasMore: boolean;
}

export interface ListMissingEventsAnswer {
  missing: {
    eventId: number;
    eventType: EventType;
    /** ISO 8601, UTC. */
    eventCreatedUtc: string;
    sequence: number;
    /** Of its last delivery. Null: it has none, or its first attempt is under way. */
    state: 'waiting' | 'held' | 'succeeded' | 'failed' | 'dropped' | null;
    attempts: number;
  }[];
  /** The number of the last event that was looked at, of any type; 0 if there is none. */
  throughSequence: number;
  /** Null at the end. */
  nextCursor: string | null;
  hasMore: boolean;
}

export interface ListNotesAnswer {
  notes: NoteRecord[];
  /** Cursor of the next page; null at the end. */
  nextCursor: string | null;
  hasMore: boolean;
}

export interface ListPeopleAnswer {
  people: PersonRecord[];
  /** Cursor of the next page; null at the end. */
  nextCursor: string | null;
  hasMore: boolean;
  /** With `external_id`: those that no such record has. */
  not_found?: string[] | undefined;
}

export interface ListSampleEventsAnswer {
  samples: {
    event: WebhookEvent;
    /** The same event, as the bytes that are signed. */
    body: string;
    headers: { [name: string]: string };
  }[];
  /** The same for everybody, and used for samples only. Do not accept it in production. */
  signingSecret: string;
}

export interface ListSubscriptionDeliveriesAnswer {
  deliveries: {
    /** `<event>-<subscription>-<replay>`. */
    id: string;
    eventId: number;
    subscriptionId: number;
    /** 0: the event’s own delivery. */
    replayId: number;
    eventType: EventType;
    /** ISO 8601, UTC. */
    eventCreatedUtc: string;
    state: 'waiting' | 'held' | 'succeeded' | 'failed' | 'dropped';
    /** Number of attempts made. */
    attempts: number;
    /** While it waits: when its next attempt is due, at the latest. */
    dueUtc: string | null;
    lastStatusCode: number | null;
    lastErrorClass: 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'redirect' | 'blocked_address' | 'status' | null;
    /** ISO 8601, UTC. */
    updatedUtc: string;
  }[];
  /** Null at the end. */
  nextCursor: string | null;
  hasMore: boolean;
}

export interface ListSubscriptionsAnswer {
  subscriptions: Subscription[];
  /** Number of items in this answer. */
  count: number;
}

/** The shape of an error of the lookup endpoints. */
export interface LookupError {
  error_code: 'invalid_request' | 'forbidden' | 'network_not_allowed' | 'unauthorized' | 'not_found' | 'method_not_allowed' | 'payload_too_large' | 'internal_error' | 'lock_timeout' | 'keys_unavailable' | 'service_unavailable' | 'timeout';
  /** What went wrong, in a sentence. */
  message: string;
  /** With 400: every problem of the request. The first one is also the main text. */
  details?: {
    field: string;
    /**
     * - `required`: A value is missing, null or blank.
     * - `unknown_field`: No field or parameter has this name.
     * - `read_only`: The field cannot be changed here, and its value is not the stored one.
     * - `too_long`: More characters, bytes, items, keys or levels than allowed.
     * - `too_short`: Fewer characters or items than needed.
     * - `invalid_characters`: Characters that are not allowed, or a text without the form it must have, such as a URL, a cursor or a time.
     * - `email_invalid`: Not an email address.
     * - `phone_invalid`: Not a phone number.
     * - `not_found`: The company has no such record or status.
     * - `wrong_kind`: A value of another JSON type, or a record or status of another kind.
     * - `inactive`: The record exists and is inactive.
     * - `in_use`: Another record has the value.
     * - `out_of_range`: A number, time, choice or other value that is not among those allowed.
     * - `not_json`: Not JSON in UTF-8.
     * - `must_agree`: It contradicts the path, another field or what is stored, or was given more than once.
     * - `empty_update`: The update has no field to change.
     */
    code: 'required' | 'unknown_field' | 'read_only' | 'too_long' | 'too_short' | 'invalid_characters' | 'email_invalid' | 'phone_invalid' | 'not_found' | 'wrong_kind' | 'inactive' | 'in_use' | 'out_of_range' | 'not_json' | 'must_agree' | 'empty_update';
    message: string;
    /** The lead or client that has the `external_id`. */
    conflicting_client_id?: number | undefined;
    /** The affiliate or employee that has the `external_id`. */
    conflicting_employee_id?: number | undefined;
  }[] | undefined;
  /** With 503 and 504, and where the key may not be used from the address. */
  reason?: 'lock_timeout' | 'keys_unavailable' | 'service_unavailable' | 'timeout' | 'network_not_allowed' | undefined;
  /** With `lock_timeout`: seconds to wait. */
  retryAfter?: number | undefined;
  /** With 500. */
  requestId?: string | undefined;
}

export interface LookupRateLimitExceeded {
  error_code: 'rate_limit_exceeded';
  message: string;
  retry_after_seconds: number;
}

export interface NoteCreated {
  client_note_id: number;
  /** ISO 8601, UTC. */
  created_utc: string;
}

export interface NoteRecord {
  client_note_id: number;
  client_id: number;
  text: string;
  note_type: string;
  visibility: string;
  external_id: string | null;
  /** ISO 8601, UTC. */
  created_utc: string;
  /** ISO 8601, UTC. */
  updated_utc: string;
  /** Rises with each change of a value. */
  version: number;
}

export interface PaymentFailedEvent {
  id: number;
  type: 'payment.failed';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: PaymentFailedPayload;
}

export interface PaymentFailedPayload {
  payment_id: number;
  client_id: number;
  invoice_id: number | null;
  /** In units of the currency, such as 129.5. */
  amount: number;
  /** ISO 4217, such as `USD`. */
  currency: string;
  payment_method: string;
  failure_reason: string;
  /** ISO 8601, UTC. */
  failed_date: string;
}

export interface PaymentSucceededEvent {
  id: number;
  type: 'payment.succeeded';
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: PaymentSucceededPayload;
}

export interface PaymentSucceededPayload {
  payment_id: number;
  client_id: number;
  invoice_id: number | null;
  /** In units of the currency, such as 129.5. */
  amount: number;
  /** ISO 4217, such as `USD`. */
  currency: string;
  payment_method: string;
  /** ISO 8601, UTC. */
  paid_date: string;
}

export interface Person {
  client_id: number;
  first_name: string;
  last_name: string;
  email: string;
  phone: string | null;
  status: string;
  is_lead: boolean;
  external_id: string | null;
  /** ISO 8601, UTC. */
  created_utc: string;
}

export interface PersonCreated {
  client_id: number;
  status: string;
  /** ISO 8601, UTC. */
  created_utc: string;
}

export interface PersonRecord {
  client_id: number;
  first_name: string;
  last_name: string;
  email: string;
  phone: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  package_keyword: string | null;
  status_id: number;
  status: string;
  is_lead: boolean;
  employee_id: number | null;
  affiliate_id: number | null;
  external_id: string | null;
  /** ISO 8601, UTC. */
  created_utc: string;
  /** ISO 8601, UTC. */
  updated_utc: string;
  /** Rises with each change of a value. */
  version: number;
}

export interface PersonUpdated {
  success: true;
  /** ISO 8601, UTC. */
  updated_utc: string;
  client_id: number;
}

export interface RateLimitExceeded {
  error: string;
  /** Seconds until the window ends. */
  retryAfter: number;
  limit: number;
  window: string;
  policy: string;
  resetUtc: string;
  /** Requests counted in the window, this one included. */
  currentUsage: number;
}

export interface ReleaseHeldDeliveriesAnswer {
  count: number;
}

export interface RotateSubscriptionSecretRequest {
  overlapHours?: number | undefined;
}

export interface SearchClientsAnswer {
  clients: {
    id: number;
    /** Full name, a separator, then email or phone. */
    name: string;
  }[];
  /** Number of items in this answer. */
  count: number;
}

export interface StatusChanged {
  previous_status: string;
  new_status: string;
  /** ISO 8601, UTC. */
  updated_utc: string;
}

export type StatusRef = number | string;

export interface Subscription {
  id: number;
  name: string | null;
  url: string;
  eventTypes: EventType[];
  enabled: boolean;
  managedBy: string | null;
  description: string | null;
  /** ISO 8601, UTC. */
  createdUtc: string;
  /** ISO 8601, UTC. */
  updatedUtc: string;
  disabledReason: string | null;
  /** Consecutive failed attempts, over all events. A success resets it to 0, and 20 disable the subscription. From 5 on, attempts are made one at a time, and each counts. Attempts that were already under way at that point do not raise the count above 5, so more attempts may have failed than are counted. */
  consecutiveFailures: number;
  /** Deliveries that are held since the subscription was disabled, until they are released or discarded. May be slightly too high for a minute after disabling, until attempts that were under way have ended. */
  heldDeliveries: number;
  /** Absent: there are none. */
  conditions?: {
    /** A field of the payload of every subscribed type. */
    field: string;
    equals?: string | number | boolean | undefined;
    in?: (string | number | boolean)[] | undefined;
    exists?: boolean | undefined;
    startsWith?: string | undefined;
    min?: number | undefined;
    max?: number | undefined;
  }[] | undefined;
  /** Absent: there is no such limit. */
  pace?: {
    limit: number;
    per: 'second' | 'minute';
  } | undefined;
  /** True: deliveries wait. Absent: it is not paused. */
  paused?: boolean | undefined;
  /** Names of its own headers, whose values are secret. Absent: it has none. */
  headerNames?: string[] | undefined;
}

export interface SubscriptionWithSecret {
  id: number;
  name: string | null;
  url: string;
  eventTypes: EventType[];
  enabled: boolean;
  managedBy: string | null;
  description: string | null;
  /** ISO 8601, UTC. */
  createdUtc: string;
  /** ISO 8601, UTC. */
  updatedUtc: string;
  disabledReason: string | null;
  /** Consecutive failed attempts, over all events. A success resets it to 0, and 20 disable the subscription. From 5 on, attempts are made one at a time, and each counts. Attempts that were already under way at that point do not raise the count above 5, so more attempts may have failed than are counted. */
  consecutiveFailures: number;
  /** Deliveries that are held since the subscription was disabled, until they are released or discarded. May be slightly too high for a minute after disabling, until attempts that were under way have ended. */
  heldDeliveries: number;
  /** Absent: there are none. */
  conditions?: {
    /** A field of the payload of every subscribed type. */
    field: string;
    equals?: string | number | boolean | undefined;
    in?: (string | number | boolean)[] | undefined;
    exists?: boolean | undefined;
    startsWith?: string | undefined;
    min?: number | undefined;
    max?: number | undefined;
  }[] | undefined;
  /** Absent: there is no such limit. */
  pace?: {
    limit: number;
    per: 'second' | 'minute';
  } | undefined;
  /** True: deliveries wait. Absent: it is not paused. */
  paused?: boolean | undefined;
  /** Names of its own headers, whose values are secret. Absent: it has none. */
  headerNames?: string[] | undefined;
  /** Shown in this answer only. */
  signingSecret: string;
}

export interface TestSubscriptionAnswer {
  /** True if the receiver answered 2xx within the timeout. */
  success: boolean;
  /** null if there was no answer. */
  statusCode: number | null;
  elapsedMs: number;
  responseBodyTruncated: boolean;
  responseBody: string;
  /** The URL that was called, normalised: with the host in ASCII and without a fragment. */
  targetUrlUsed: string;
  /** Why it failed; null after a 2xx. `dns`: the host does not resolve to an address that deliveries can go to; `connect`: no connection; `tls`: no secure connection; `timeout`: no answer in time; `reset`: the connection ended early or did not speak HTTP; `redirect`: a 3xx, which is not followed; `blocked_address`: deliveries may not go to this URL; `status`: any other status. */
  error: 'dns' | 'connect' | 'tls' | 'timeout' | 'reset' | 'redirect' | 'blocked_address' | 'status' | null;
  /** The reason as a sentence for people; null after a 2xx. */
  message: string | null;
}

export interface TestSubscriptionRequest {
  eventType?: string | null | undefined;
  /** `true` when absent. */
  useSamplePayload?: boolean | undefined;
  /** Sent unchanged, instead of a generated sample. */
  samplePayload?: { [name: string]: unknown } | undefined;
  statusOverride?: string | null | undefined;
}

export interface UpdateAffiliateAnswer {
  success: true;
  /** ISO 8601, UTC. */
  updated_utc: string;
  employee_id: number;
}

export interface UpdateAffiliateRequest {
  /** May be repeated if it equals the path’s. */
  employee_id?: number | undefined;
  /** At least one visible character, no control characters. */
  first_name?: string | undefined;
  /** At least one visible character, no control characters. */
  last_name?: string | undefined;
  email?: string | undefined;
  phone?: string | null | undefined;
  affiliate_company_name?: string | null | undefined;
  commission_rate?: number | null | undefined;
  is_active?: boolean | undefined;
  is_approved?: boolean | undefined;
  external_id?: string | null | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  affiliate_code?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  created_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  updated_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  version?: unknown | undefined;
}

export interface UpdateClientRequest {
  /** May be repeated if it equals the path’s. */
  client_id?: number | undefined;
  /** At least one visible character, no control characters. */
  first_name?: string | undefined;
  /** At least one visible character, no control characters. */
  last_name?: string | undefined;
  email?: string | undefined;
  phone?: string | null | undefined;
  city?: string | null | undefined;
  state?: string | null | undefined;
  zip?: string | null | undefined;
  employee_id?: number | null | undefined;
  affiliate_id?: number | null | undefined;
  external_id?: string | null | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  package_keyword?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  status_id?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  status?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  is_lead?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  created_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  updated_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  version?: unknown | undefined;
}

/** At least one of `new_status` and `new_status_id` is required. */
export interface UpdateClientStatusRequest {
  /** May be repeated if it equals the path’s. */
  client_id?: number | undefined;
  new_status?: StatusRef | null | undefined;
  new_status_id?: StatusRef | null | undefined;
  changed_by_employee_id?: number | null | undefined;
  status_note?: string | null | undefined;
}

export interface UpdateLeadRequest {
  /** May be repeated if it equals the path’s. */
  client_id?: number | undefined;
  /** At least one visible character, no control characters. */
  first_name?: string | undefined;
  /** At least one visible character, no control characters. */
  last_name?: string | undefined;
  email?: string | undefined;
  phone?: string | null | undefined;
  city?: string | null | undefined;
  state?: string | null | undefined;
  zip?: string | null | undefined;
  employee_id?: number | null | undefined;
  affiliate_id?: number | null | undefined;
  external_id?: string | null | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  package_keyword?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  status_id?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  status?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  is_lead?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  created_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  updated_utc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  version?: unknown | undefined;
}

/** At least one of `new_status` and `new_status_id` is required. */
export interface UpdateLeadStatusRequest {
  /** May be repeated if it equals the path’s. */
  client_id?: number | undefined;
  new_status?: StatusRef | null | undefined;
  new_status_id?: StatusRef | null | undefined;
  changed_by_employee_id?: number | null | undefined;
  status_note?: string | null | undefined;
}

export interface UpdateSubscriptionRequest {
  /** Absolute and https (http only where the installation allows it), with a host, and without user info, spaces or backslashes. The port is 443 or 8443, unless the installation allows others. */
  url?: string | undefined;
  eventTypes?: EventType[] | undefined;
  enabled?: boolean | undefined;
  name?: string | null | undefined;
  description?: string | null | undefined;
  /** Only events whose payload meets all of these conditions are delivered. Null: every event of the types. Each has one operator; `min` and `max` may be together. */
  conditions?: {
    /** A field of the payload of every subscribed type. */
    field: string;
    equals?: string | number | boolean | undefined;
    in?: (string | number | boolean)[] | undefined;
    exists?: boolean | undefined;
    startsWith?: string | undefined;
    min?: number | undefined;
    max?: number | undefined;
  }[] | null | undefined;
  /** At most so many attempts begin in any second, or any minute. Null: no such limit. */
  pace?: {
    limit: number;
    per: 'second' | 'minute';
  } | null | undefined;
  /** Headers of every delivery besides its own, by name. Their values are shown in no answer. An update changes the named ones, a null removes one, and null instead of all removes all. */
  headers?: { [name: string]: string | null } | null | undefined;
  /** While true, deliveries wait, and are sent in their order afterwards. */
  paused?: boolean | undefined;
  /** May be repeated if it equals the path’s. */
  id?: number | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  managedBy?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  createdUtc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  updatedUtc?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  disabledReason?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  consecutiveFailures?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  heldDeliveries?: unknown | undefined;
  /** Ignored if it equals the stored value; otherwise an error. */
  headerNames?: unknown | undefined;
}

export interface WebhookEvent {
  id: number;
  type: EventType;
  /** ISO 8601, UTC. */
  createdUtc: string;
  companyId: number;
  payload: { [name: string]: unknown };
}

export interface FindClientsQuery {
  email?: string | undefined;
  /** Digits, space and +()-./x, at least 3 digits. */
  phone?: string | undefined;
  external_id?: string | undefined;
  client_id?: number | undefined;
}

export interface FindLeadsQuery {
  email?: string | undefined;
  /** Digits, space and +()-./x, at least 3 digits. */
  phone?: string | undefined;
  external_id?: string | undefined;
  client_id?: number | undefined;
}

export interface ListAllAffiliatesQuery {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier answer. Opaque. */
  cursor?: string | undefined;
  /** Only records whose `updated_utc` is not before this time. Write `+` of an offset as `%2B`. */
  updated_since?: string | undefined;
}

export interface ListChangesQuery {
  /** The opaque `nextCursor` of an earlier answer for the same `types`. */
  cursor?: string | undefined;
  /** The kinds of records, separated by commas. */
  types?: string | undefined;
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** Seconds. If the page would be empty, the answer waits until there is something for it, at most this long. */
  wait?: number | undefined;
  /** `self` leaves out records whose latest change was made with the same API key. */
  exclude_origin?: 'self' | undefined;
}

export interface ListEventsQuery {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The opaque `nextCursor` of an earlier answer, or `latest` with `order=asc`. */
  cursor?: string | undefined;
  /** One event type, or several separated by commas: `client.created`, `client.status_changed`, `lead.created`, `invoice.created`, `invoice.status_changed`, `payment.succeeded`, `payment.failed`, `affiliate.created`, `document.uploaded`, `agreement.signed`. */
  type?: string | undefined;
  /** `meta` lists the events as `entries`, each with its `origin` and `sequence`. */
  include?: 'meta' | undefined;
  /** Seconds. If the page would be empty, the answer waits until there is something for it, at most this long. Needs `order=asc`. */
  wait?: number | undefined;
  order?: 'desc' | 'asc' | undefined;
}

export interface ListMissingEventsQuery {
  /** Events created at this time or later. By default, since the subscription was created. */
  since?: string | undefined;
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier answer. Opaque. */
  cursor?: string | undefined;
}

export interface ListNotesQuery {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier answer. Opaque. */
  cursor?: string | undefined;
}

export interface ListPeopleQuery {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier answer. Opaque. */
  cursor?: string | undefined;
  /** Only records whose `updated_utc` is not before this time. Write `+` of an offset as `%2B`. */
  updated_since?: string | undefined;
  /** Without it, both. */
  kind?: 'lead' | 'client' | undefined;
  /** Compared exactly. Repeat the parameter to ask for several. */
  external_id?: string[] | undefined;
}

export interface ListSampleEventsQuery {
  /** Without it, all types. */
  type?: EventType | undefined;
}

export interface ListSubscriptionDeliveriesQuery {
  /** `undelivered`: attempted without success so far, and not discarded. */
  state?: 'waiting' | 'held' | 'succeeded' | 'failed' | 'dropped' | 'undelivered' | undefined;
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** The `nextCursor` of an earlier answer. Opaque. */
  cursor?: string | undefined;
}

export interface SearchClientsQuery {
  /** What to search for: a client ID, or 2 or more characters. */
  q?: string | undefined;
  /** Maximum number of items to return. */
  limit?: number | undefined;
}

export interface Affiliates {
  /**
   * Create or update up to 100 affiliates.
   *
   * `create` takes what a POST takes; `update` takes what a PATCH takes, with the id among the fields; `upsert` updates items that have an id and creates the others. Counts as one request. Each item is checked, carried out and answered as the operation for one record does it; a refused item refuses no other. If two items name the same record, the second gets 409 with the reason `duplicate_item`. An item that was not begun in time gets 503 with the reason `not_started`. A company may have two batches under way. With an `Idempotency-Key`, a batch that was interrupted can be sent again whole.
   *
   * Scope: `integrations:write`.
   */
  batch(body: BatchAffiliatesRequest, options?: CreateOptions): Promise<BatchAffiliatesAnswer>;
  /**
   * Create an affiliate.
   *
   * A new affiliate is not approved. If an affiliate with the same external_id exists, the sent fields are applied to it instead.
   *
   * Scope: `integrations:write`.
   */
  create(body: CreateAffiliateRequest, options?: CreateOptions): Promise<AffiliateCreated>;
  /**
   * Read an affiliate.
   *
   * Scope: `integrations:read`.
   */
  get(employeeId: number, options: ReadOptions & { ifNoneMatch: number | string }): Promise<AffiliateRecord | null>;
  get(employeeId: number, options?: CallOptions): Promise<AffiliateRecord>;
  /**
   * List affiliates.
   *
   * Every affiliate with all fields, inactive and unapproved ones too. In the order of `updated_utc` and ID, so that a record that changes meanwhile comes again and none is left out. To follow changes from then on, read `GET /integrations/changes`.
   *
   * Scope: `integrations:read`.
   */
  list(query?: ListAllAffiliatesQuery, options?: CallOptions): Pages<ListAllAffiliatesAnswer, ListAllAffiliatesAnswer['affiliates'][number]>;
  /**
   * Update, approve or deactivate an affiliate.
   *
   * Only the sent fields change. null clears an optional field.
   *
   * Scope: `integrations:write`.
   */
  update(employeeId: number, body: UpdateAffiliateRequest, options?: UpdateOptions): Promise<UpdateAffiliateAnswer>;
}

export interface Changes {
  /**
   * Follow all changes.
   *
   * Every person, affiliate and note at its latest change, in the order in which the changes were committed. Without `cursor` it begins with the oldest, so reading to `hasMore: false` gives every record once. Then ask again with the last `nextCursor`, at any time. A record that changes meanwhile comes again, at its new place. Whoever applies each entry whose `version` is higher than the one it has, and reads to `hasMore: false`, has the state of that moment. A page can have fewer entries than `limit`, or none, while `hasMore` is true. To learn of changes at once, follow with `wait=25`.
   *
   * Scope: `integrations:read`.
   */
  list(query?: ListChangesQuery, options?: CallOptions): Pages<ListChangesAnswer, ListChangesAnswer['changes'][number]>;
}

export interface Clients {
  /**
   * Create or update up to 100 clients.
   *
   * `create` takes what a POST takes; `update` takes what a PATCH takes, with the id among the fields; `upsert` updates items that have an id and creates the others. Counts as one request. Each item is checked, carried out and answered as the operation for one record does it; a refused item refuses no other. If two items name the same record, the second gets 409 with the reason `duplicate_item`. An item that was not begun in time gets 503 with the reason `not_started`. A company may have two batches under way. With an `Idempotency-Key`, a batch that was interrupted can be sent again whole.
   *
   * Scope: `integrations:write`.
   */
  batch(body: BatchClientsRequest, options?: CreateOptions): Promise<BatchClientsAnswer>;
  /**
   * Create a client.
   *
   * Without `status` the client gets the company's default client status. If a record with the same external_id exists, the sent fields are applied to it instead, and a lead becomes a client.
   *
   * Scope: `integrations:write`.
   */
  create(body: CreateClientRequest, options?: CreateOptions): Promise<PersonCreated>;
  /**
   * Find clients.
   *
   * Finds clients (not leads) by email, phone, external_id or client_id. Emails are compared case-insensitively, phones by their digits, the rest exactly. A record must match all given parameters. Returns at most 25 records, newest first; `hasMore` says whether there are others.
   *
   * Scope: `integrations:read`.
   */
  find(query?: FindClientsQuery, options?: CallOptions): Promise<FindClientsAnswer>;
  /**
   * Read a client.
   *
   * Answers 404 unless the record is a client.
   *
   * Scope: `integrations:read`.
   */
  get(clientId: number, options: ReadOptions & { ifNoneMatch: number | string }): Promise<PersonRecord | null>;
  get(clientId: number, options?: CallOptions): Promise<PersonRecord>;
  /**
   * Update a client.
   *
   * Only the sent fields change. null clears an optional field. Answers 404 unless the record is a client.
   *
   * Scope: `integrations:write`.
   */
  update(clientId: number, body: UpdateClientRequest, options?: UpdateOptions): Promise<PersonUpdated>;
  /**
   * Change the status of a client, or convert a lead to a client.
   *
   * Takes any status that is not a lead status, by ID or name; if both are sent, they must agree. A lead is converted to a client. Setting the status the client already has answers 200 and changes nothing.
   *
   * Scope: `integrations:write`.
   */
  updateStatus(clientId: number, body: UpdateClientStatusRequest, options?: UpdateOptions): Promise<StatusChanged>;
}

export interface Events {
  /**
   * Create a test event.
   *
   * Creates a real event of the company, delivered to all enabled subscriptions of its type. Without `payload`, the sample payload of the type is used.
   *
   * Scope: `admin`.
   */
  createTest(body: CreateTestEventRequest, options?: WriteOptions): Promise<CreateTestEventAnswer>;
  /**
   * Read one event.
   *
   * Scope: `events:read`.
   */
  get(id: number, options?: CallOptions): Promise<WebhookEvent>;
  /**
   * List events.
   *
   * Lists events, newest first by default. Polling `order=asc` with the last `nextCursor`, at any time, never skips an event. To start from now, send `order=asc&cursor=latest`: the answer is an empty page whose `nextCursor` is at the end of the log. To learn of events at once, poll with `wait=25`. A page can have fewer events than `limit`, or none, if events are large or of a rare type: `hasMore` says whether there are more now.
   *
   * Scope: `events:read`.
   */
  list(query: ListEventsQuery & { include: 'meta' }, options?: CallOptions): Pages<ListEventsAnswer, NonNullable<ListEventsAnswer['entries']>[number]>;
  list(query?: ListEventsQuery, options?: CallOptions): Pages<ListEventsAnswer, ListEventsAnswer['events'][number]>;
  /**
   * List sample events.
   *
   * An example of each event type, whether or not the company has events, to map fields and to test a receiver: `body` is exactly what a delivery would carry, and `headers` are its headers, signed now with `signingSecret`. Post both to your receiver. The samples are not in the event log, and no subscription gets them.
   *
   * Scope: `events:read`.
   */
  samples(query?: ListSampleEventsQuery, options?: CallOptions): Promise<ListSampleEventsAnswer>;
}

export interface Leads {
  /**
   * Create or update up to 100 leads.
   *
   * `create` takes what a POST takes; `update` takes what a PATCH takes, with the id among the fields; `upsert` updates items that have an id and creates the others. Counts as one request. Each item is checked, carried out and answered as the operation for one record does it; a refused item refuses no other. If two items name the same record, the second gets 409 with the reason `duplicate_item`. An item that was not begun in time gets 503 with the reason `not_started`. A company may have two batches under way. With an `Idempotency-Key`, a batch that was interrupted can be sent again whole.
   *
   * Scope: `integrations:write`.
   */
  batch(body: BatchLeadsRequest, options?: CreateOptions): Promise<BatchLeadsAnswer>;
  /**
   * Create a lead.
   *
   * Without `status` the lead starts as `Lead - New`. If a record with the same external_id exists, the sent fields are applied to it instead; the status of a client does not change.
   *
   * Scope: `integrations:write`.
   */
  create(body: CreateLeadRequest, options?: CreateOptions): Promise<PersonCreated>;
  /**
   * Find leads.
   *
   * Finds leads (not clients) by email, phone, external_id or client_id. Emails are compared case-insensitively, phones by their digits, the rest exactly. A record must match all given parameters. Returns at most 25 records, newest first; `hasMore` says whether there are others.
   *
   * Scope: `integrations:read`.
   */
  find(query?: FindLeadsQuery, options?: CallOptions): Promise<FindLeadsAnswer>;
  /**
   * Read a lead.
   *
   * Answers 404 unless the record is a lead.
   *
   * Scope: `integrations:read`.
   */
  get(clientId: number, options: ReadOptions & { ifNoneMatch: number | string }): Promise<PersonRecord | null>;
  get(clientId: number, options?: CallOptions): Promise<PersonRecord>;
  /**
   * Update a lead.
   *
   * Only the sent fields change. null clears an optional field. Answers 404 unless the record is a lead.
   *
   * Scope: `integrations:write`.
   */
  update(clientId: number, body: UpdateLeadRequest, options?: UpdateOptions): Promise<PersonUpdated>;
  /**
   * Change the status of a lead.
   *
   * Takes a lead status, by ID or name; if both are sent, they must agree. Setting the status the lead already has answers 200 and changes nothing.
   *
   * Scope: `integrations:write`.
   */
  updateStatus(clientId: number, body: UpdateLeadStatusRequest, options?: UpdateOptions): Promise<StatusChanged>;
}

export interface Lookups {
  /**
   * List affiliates.
   *
   * Active and approved affiliates, sorted by full name.
   *
   * Scope: `integrations:read`.
   */
  affiliates(options?: CallOptions): Promise<ListAffiliatesAnswer>;
  /**
   * List lead and client statuses.
   *
   * Valid and active statuses. Lead statuses are global; other statuses are global or the company’s own. The company’s own come first, each group sorted by name.
   *
   * Scope: `integrations:read`.
   */
  clientStatuses(options?: CallOptions): Promise<ListClientStatusesAnswer>;
  /**
   * Search leads and clients.
   *
   * A numeric `q` finds the client with that ID. Any other `q` of 2 or more characters finds those whose name or email contains it, whose phone digits end with it (three digits or more), or whose external_id starts with it. An empty or missing `q` finds nothing.
   *
   * Scope: `integrations:read`.
   */
  clients(query?: SearchClientsQuery, options?: CallOptions): Promise<SearchClientsAnswer>;
  /**
   * List employees.
   *
   * Active employees, without affiliates, sorted by full name.
   *
   * Scope: `integrations:read`.
   */
  employees(options?: CallOptions): Promise<ListEmployeesAnswer>;
}

export interface Me {
  /**
   * Read the key and its limits.
   *
   * Answers which key and company the request belongs to, the scopes of the key, and how many requests it has sent in this minute, exactly. Other keys of the company count toward its ceiling too, which is not shown.
   */
  get(options?: CallOptions): Promise<GetMeAnswer>;
}

export interface Notes {
  /**
   * Add up to 100 notes to leads and clients.
   *
   * Notes can only be created; one whose external_id exists is updated. Counts as one request. Each item is checked, carried out and answered as the operation for one record does it; a refused item refuses no other. If two items name the same record, the second gets 409 with the reason `duplicate_item`. An item that was not begun in time gets 503 with the reason `not_started`. A company may have two batches under way. With an `Idempotency-Key`, a batch that was interrupted can be sent again whole.
   *
   * Scope: `integrations:write`.
   */
  batch(body: BatchNotesRequest, options?: CreateOptions): Promise<BatchNotesAnswer>;
  /**
   * Add a note to a lead or client.
   *
   * If a note with the same external_id exists, it is updated instead.
   *
   * Scope: `integrations:write`.
   */
  create(clientId: number, body: AddClientNoteRequest, options?: CreateOptions): Promise<NoteCreated>;
  /**
   * List the notes of a lead or client.
   *
   * Oldest first.
   *
   * Scope: `integrations:read`.
   */
  list(clientId: number, query?: ListNotesQuery, options?: CallOptions): Pages<ListNotesAnswer, ListNotesAnswer['notes'][number]>;
}

export interface People {
  /**
   * Erase a person.
   *
   * Erases a lead or client for privacy, for good: the record, its notes, its status history and its search entries are gone when this is answered. Within seconds, `payload` of its events is `{"client_id": …, "erased": true}`, what receivers answered to their deliveries is removed, and so are stored answers to `Idempotency-Key`s that name it. The changes feed has a deletion for 90 days.
   *
   * Scope: `admin`.
   */
  erase(clientId: number, options?: CallOptions): Promise<void>;
  /**
   * Read a lead or client.
   *
   * Scope: `integrations:read`.
   */
  get(clientId: number, options: ReadOptions & { ifNoneMatch: number | string }): Promise<PersonRecord | null>;
  get(clientId: number, options?: CallOptions): Promise<PersonRecord>;
  /**
   * List leads and clients.
   *
   * Every lead and client with all fields. In the order of `updated_utc` and ID, so that a record that changes meanwhile comes again and none is left out. To follow changes from then on, read `GET /integrations/changes`. With `external_id`, given up to 100 times, the answer has those records in the order asked, and names the unknown ones in `not_found`; `limit` then does not apply. With `kind` a page can have fewer records than `limit`, or none, while `hasMore` is true.
   *
   * Scope: `integrations:read`.
   */
  list(query?: ListPeopleQuery, options?: CallOptions): Pages<ListPeopleAnswer, ListPeopleAnswer['people'][number]>;
}

export interface Replays {
  /**
   * Deliver events again.
   *
   * Makes a new delivery of each of the events, oldest first and no faster than the receiver takes them, alongside live traffic. Its header `X-Webhook-Replay` has the ID of the replay. At most 100,000 deliveries. Also works for a subscription that is managed by a tool.
   *
   * Scope: `webhooks:write`.
   */
  create(id: number, body: CreateSubscriptionReplayRequest, options?: WriteOptions): Promise<CreateSubscriptionReplayAnswer>;
  /**
   * Read one replay.
   *
   * Once `state` is `done`, each of its deliveries has succeeded or failed.
   *
   * Scope: `webhooks:write`.
   */
  get(id: number, options?: CallOptions): Promise<GetSubscriptionReplayAnswer>;
}

export interface Subscriptions {
  /**
   * Subscribe a URL to event types.
   *
   * The signing secret is shown in this answer only. If the company requires endpoint verification, the answer has `enabled: false`, and Causeway sends the receiver a challenge at once. With `managedBy`, a second create with the same URL and event types answers 200 with the subscription that is there, so a tool can save its workflow twice.
   *
   * Scope: `webhooks:write`.
   */
  create(body: CreateSubscriptionRequest, options?: WriteOptions): Promise<SubscriptionWithSecret>;
  /**
   * Delete a subscription.
   *
   * Also works for a subscription that is managed by a tool.
   *
   * Scope: `webhooks:write`.
   */
  delete(id: number, options?: CallOptions): Promise<void>;
  /**
   * Discard held deliveries.
   *
   * Discards the deliveries that were held while the subscription was disabled, whether or not it is enabled now. The events stay in the event log, and the portal can replay them. Also works for a subscription that is managed by a tool.
   *
   * Scope: `webhooks:write`.
   */
  discardHeld(id: number, options?: WriteOptions): Promise<DiscardHeldDeliveriesAnswer>;
  /**
   * Read one subscription.
   *
   * Scope: `webhooks:write`.
   */
  get(id: number, options?: CallOptions): Promise<Subscription>;
  /**
   * List the subscriptions.
   *
   * Scope: `webhooks:write`.
   */
  list(options?: CallOptions): Promise<ListSubscriptionsAnswer>;
  /**
   * List the deliveries of a subscription.
   *
   * Those of the newest events first. A delivery that is under way for the first time is listed once its first attempt has ended. A page can have fewer deliveries than `limit`, or none, while `hasMore` is true.
   *
   * Scope: `webhooks:write`.
   */
  listDeliveries(id: number, query?: ListSubscriptionDeliveriesQuery, options?: CallOptions): Pages<ListSubscriptionDeliveriesAnswer, ListSubscriptionDeliveriesAnswer['deliveries'][number]>;
  /**
   * List the events that a subscription lacks.
   *
   * The events of the subscription’s present types that have no successful delivery to it, in the order of commits. So every other event of these types, since `since` and up to the number `throughSequence`, has arrived: its receiver answered 2xx. An event whose first attempt is under way is listed too. A page can have fewer events than `limit`, or none, while `hasMore` is true.
   *
   * Scope: `webhooks:write`.
   */
  listMissing(id: number, query?: ListMissingEventsQuery, options?: CallOptions): Pages<ListMissingEventsAnswer, ListMissingEventsAnswer['missing'][number]>;
  /**
   * Release held deliveries.
   *
   * Sends the deliveries that were held while the subscription was disabled, oldest first and alongside live traffic. Enable the subscription first. `heldDeliveries` of the subscription falls to 0 as they are released. Also works for a subscription that is managed by a tool.
   *
   * Scope: `webhooks:write`.
   */
  releaseHeld(id: number, options?: WriteOptions): Promise<ReleaseHeldDeliveriesAnswer>;
  /**
   * Replace the signing secret.
   *
   * Without `overlapHours` the old secret ends at once. With it, deliveries carry the signatures of both secrets for that long. While an earlier overlap lasts, the answer is 409, so that no secret ends before its announced time; `overlapHours: 0` always succeeds and ends every earlier secret at once.
   *
   * Scope: `webhooks:write`.
   */
  rotateSecret(id: number, body?: RotateSubscriptionSecretRequest, options?: WriteOptions): Promise<SubscriptionWithSecret>;
  /**
   * Send a test delivery.
   *
   * Signed and sent exactly like a real delivery, with `metadata` added to the envelope. Answers 200 whatever the receiver answers. Never changes the failure count or the event log. A disabled subscription can be tested too.
   *
   * Scope: `admin`.
   */
  test(id: number, body?: TestSubscriptionRequest, options?: WriteOptions): Promise<TestSubscriptionAnswer>;
  /**
   * Change a subscription.
   *
   * Only the sent fields change. Disabling holds the waiting deliveries. Enabling resets the failure count; held deliveries stay held until they are released or discarded. A subscription that is managed by a tool cannot be edited. If the company requires endpoint verification, a new URL must be verified again, and `enabled: true` on a subscription that is not verified sends a challenge and answers 409 if the receiver does not echo it.
   *
   * Scope: `webhooks:write`.
   */
  update(id: number, body: UpdateSubscriptionRequest, options?: CallOptions): Promise<Subscription>;
}

export interface Interface {
  readonly affiliates: Affiliates;
  readonly changes: Changes;
  readonly clients: Clients;
  readonly events: Events;
  readonly leads: Leads;
  readonly lookups: Lookups;
  readonly me: Me;
  readonly notes: Notes;
  readonly people: People;
  readonly replays: Replays;
  readonly subscriptions: Subscriptions;
}

export const operations: { readonly [resource: string]: { readonly [method: string]: Operation } } = {
  affiliates: {
    batch: { method: 'POST', path: '/integrations/affiliates/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/affiliates', takes: 'body' },
    get: { method: 'GET', path: '/integrations/affiliates/{employee_id}' },
    list: { method: 'GET', path: '/integrations/affiliates', takes: 'query', list: 'affiliates' },
    update: { method: 'PATCH', path: '/integrations/affiliates/{employee_id}', takes: 'body' },
  },
  changes: {
    list: { method: 'GET', path: '/integrations/changes', takes: 'query', list: 'changes' },
  },
  clients: {
    batch: { method: 'POST', path: '/integrations/clients/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/clients', takes: 'body' },
    find: { method: 'GET', path: '/integrations/clients/find', takes: 'query' },
    get: { method: 'GET', path: '/integrations/clients/{client_id}' },
    update: { method: 'PATCH', path: '/integrations/clients/{client_id}', takes: 'body' },
    updateStatus: { method: 'PATCH', path: '/integrations/clients/{client_id}/status', takes: 'body' },
  },
  events: {
    createTest: { method: 'POST', path: '/events/test', takes: 'body' },
    get: { method: 'GET', path: '/events/{id}' },
    list: { method: 'GET', path: '/events', takes: 'query', list: 'events' },
    samples: { method: 'GET', path: '/events/samples', takes: 'query' },
  },
  leads: {
    batch: { method: 'POST', path: '/integrations/leads/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/leads', takes: 'body' },
    find: { method: 'GET', path: '/integrations/leads/find', takes: 'query' },
    get: { method: 'GET', path: '/integrations/leads/{client_id}' },
    update: { method: 'PATCH', path: '/integrations/leads/{client_id}', takes: 'body' },
    updateStatus: { method: 'PATCH', path: '/integrations/leads/{client_id}/status', takes: 'body' },
  },
  lookups: {
    affiliates: { method: 'GET', path: '/integrations/lookups/affiliates' },
    clientStatuses: { method: 'GET', path: '/integrations/lookups/client-statuses' },
    clients: { method: 'GET', path: '/integrations/lookups/clients', takes: 'query' },
    employees: { method: 'GET', path: '/integrations/lookups/employees' },
  },
  me: {
    get: { method: 'GET', path: '/integrations/me' },
  },
  notes: {
    batch: { method: 'POST', path: '/integrations/clients/notes/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/clients/{client_id}/notes', takes: 'body' },
    list: { method: 'GET', path: '/integrations/clients/{client_id}/notes', takes: 'query', list: 'notes' },
  },
  people: {
    erase: { method: 'DELETE', path: '/integrations/people/{client_id}' },
    get: { method: 'GET', path: '/integrations/people/{client_id}' },
    list: { method: 'GET', path: '/integrations/people', takes: 'query', list: 'people' },
  },
  replays: {
    create: { method: 'POST', path: '/webhooks/subscriptions/{id}/replays', takes: 'body' },
    get: { method: 'GET', path: '/webhooks/replays/{id}' },
  },
  subscriptions: {
    create: { method: 'POST', path: '/webhooks/subscriptions', takes: 'body' },
    delete: { method: 'DELETE', path: '/webhooks/subscriptions/{id}' },
    discardHeld: { method: 'POST', path: '/webhooks/subscriptions/{id}/held/discard' },
    get: { method: 'GET', path: '/webhooks/subscriptions/{id}' },
    list: { method: 'GET', path: '/webhooks/subscriptions' },
    listDeliveries: { method: 'GET', path: '/webhooks/subscriptions/{id}/deliveries', takes: 'query', list: 'deliveries' },
    listMissing: { method: 'GET', path: '/webhooks/subscriptions/{id}/missing', takes: 'query', list: 'missing' },
    releaseHeld: { method: 'POST', path: '/webhooks/subscriptions/{id}/held/release' },
    rotateSecret: { method: 'POST', path: '/webhooks/subscriptions/{id}/rotate-secret', takes: 'body' },
    test: { method: 'POST', path: '/webhooks/subscriptions/{id}/test', takes: 'body' },
    update: { method: 'PATCH', path: '/webhooks/subscriptions/{id}', takes: 'body' },
  },
};
