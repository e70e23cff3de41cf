import { z } from 'zod';
import type { challengeType } from '../delivery-states.ts';
import type { Detail } from '../errors.ts';
import { type EventType, eventDefinitions, isEventType } from '../events.ts';
import { codeOf, explain } from '../parse/issues.ts';
import { recordId } from '../schemas/fields.ts';
import { issueOf, optionalText } from '../schemas/values.ts';
import { eventPayload, knownEventType } from '../schemas/webhooks.ts';

export const dedupeWindowMs = 24 * 3600 * 1000;

/** How other modules of the CRM add an event (contract, "Events"). The answer says that it is durable. */
export const ingestEvent = {
  body: z
    .strictObject({
      companyId: recordId,
      type: knownEventType,
      payload: eventPayload,
      /** Within `dedupeWindowMs`, a request with the same key gets the first event's id and adds no event. */
      dedupeKey: optionalText({ max: 200 }),
      isTest: z.boolean().optional(),
      /** Who caused the event (contract, "Changes"); `system` if absent. */
      origin: z
        .string()
        .regex(/^(?:(?:key|member):[1-9]\d{0,15}|operator|system)$/)
        .optional(),
    })
    .check(
      z.core._check(
        ({ value, issues }: z.core.ParsePayload<{ type?: unknown; payload?: unknown; isTest?: unknown }>) => {
          const { type, payload, isTest } = value;
          if (isTest === true || typeof type !== 'string' || !isEventType(type)) return;
          if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return;
          for (const issue of payloadProblems(type, payload)) {
            const fault = { code: codeOf(issue), message: issue.message };
            issues.push({ ...issueOf(payload, fault), path: ['payload', ...issue.path] });
          }
        },
        { when: ({ value }) => typeof value === 'object' && value !== null },
      ),
    ),
} as const;

/** Receivers rely on the published schema of a type, so a payload that breaks it is refused. */
const payloadProblems = (type: EventType, payload: object): readonly z.core.$ZodIssue[] =>
  eventDefinitions[type].payload.safeParse(payload, { error: explain, reportInput: true }).error?.issues ??
  [];

export type IngestBody = z.output<typeof ingestEvent.body>;

export type IngestAnswer =
  | { readonly id: number; readonly duplicate: boolean }
  | {
      readonly error: string;
      readonly details?: readonly Detail[];
      readonly retry: boolean;
    };

export interface StoredEvent {
  readonly event_id: number;
  readonly company_id: number;
  readonly type: EventType;
  readonly created_utc: Date;
  /** Compact JSON in UTF-8. */
  readonly payload: Buffer;
}

/** Stored, signed and delivered bytes: they must never change for a payload (`events.unit.test.ts`). */
export const encodePayload = (payload: unknown): Buffer => Buffer.from(JSON.stringify(payload));

/** The payload of an event about a person who was erased (contract, "Erasure"). */
export const erasedPayload = (clientId: number): Buffer =>
  encodePayload({ client_id: clientId, erased: true });

/** In the order of the contract ("Events"). They depend on the row alone, so every attempt sends the same. */
export const encodeEnvelope = ({
  event_id,
  type,
  created_utc,
  company_id,
  payload,
}: Omit<StoredEvent, 'type'> & { readonly type: EventType | typeof challengeType }): Buffer =>
  Buffer.concat([
    Buffer.from(
      `{"id":${event_id},"type":"${type}","createdUtc":"${created_utc.toISOString()}","companyId":${company_id},"payload":`,
    ),
    payload,
    closing,
  ]);

const closing = Buffer.from('}');

export type EnvelopeHead = Pick<StoredEvent, 'event_id' | 'type' | 'created_utc' | 'company_id'>;

/** @returns undefined if the bytes are not an envelope. */
export const decodeEnvelopeHead = (envelope: Uint8Array): EnvelopeHead | undefined => {
  const text = Buffer.from(envelope.buffer, envelope.byteOffset, Math.min(envelope.length, maxHead)).toString(
    'latin1',
  );
  const [, id, type, created, company] = head.exec(text) ?? [];
  if (id === undefined || !isEventType(type!)) return undefined;
  return { event_id: Number(id), type, created_utc: new Date(created!), company_id: Number(company) };
};

/**
 * For what reads only fields of the catalogue, whose names have no escapes (`parseJson`).
 * @throws SyntaxError if the bytes are not an envelope.
 */
export const payloadIn = (envelope: Uint8Array): unknown =>
  (JSON.parse(Buffer.from(envelope).toString()) as { readonly payload: unknown }).payload;

const maxHead = 200;
const head =
  /^\{"id":(\d{1,16}),"type":"([a-z_.]+)","createdUtc":"([-\d:.TZ]{24})","companyId":(\d{1,16}),"payload":/;
