import type { challengeType } from '../deliveries/challenge.ts';
import { type EventType, isEventType } from '../events.ts';

/** An event as stored. */
export interface StoredEvent {
  readonly event_id: number;
  readonly company_id: number;
  readonly type: EventType;
  readonly created_utc: Date;
  /** Compact JSON in UTF-8, serialized once and never parsed again before delivery. */
  readonly payload: Buffer;
}

/**
 * The bytes of a payload, as they are stored, signed and delivered: compact JSON in UTF-8. They must never change for
 * a given payload; `envelope.unit.test.ts` compares them with recorded bytes.
 */
export const encodePayload = (payload: unknown): Buffer => Buffer.from(JSON.stringify(payload));

/**
 * The bytes that every delivery of an event carries, with the fields in the order `id, type, createdUtc, companyId,
 * payload` (contract, "Events"). They depend on the row alone, so every attempt sends the same bytes.
 */
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

/** The fields of an envelope before its payload. */
export type EnvelopeHead = Pick<StoredEvent, 'event_id' | 'type' | 'created_utc' | 'company_id'>;

/** Reads the fields before the payload. @returns undefined if the bytes are not an envelope. */
export const decodeEnvelopeHead = (envelope: Uint8Array): EnvelopeHead | undefined => {
  const text = Buffer.from(envelope.buffer, envelope.byteOffset, Math.min(envelope.length, maxHead)).toString(
    'latin1',
  );
  const [, id, type, created, company] = head.exec(text) ?? [];
  if (id === undefined || !isEventType(type!)) return undefined;
  return { event_id: Number(id), type, created_utc: new Date(created!), company_id: Number(company) };
};

const maxHead = 200;
const head =
  /^\{"id":(\d{1,16}),"type":"([a-z_.]+)","createdUtc":"([-\d:.TZ]{24})","companyId":(\d{1,16}),"payload":/;
