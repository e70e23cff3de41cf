import type { challengeType } from '../deliveries/challenge.ts';
import type { EventType } from '../events.ts';

/** An event as its row has it. */
export interface StoredEvent {
  readonly event_id: number;
  readonly company_id: number;
  readonly type: EventType;
  readonly created_utc: Date;
  /** Compact JSON in UTF-8, written once and never parsed again on its way. */
  readonly payload: Buffer;
}

/**
 * The bytes of a payload, as they are stored, signed and delivered: compact JSON in UTF-8. They must never change for
 * a given payload, which golden bytes hold (`envelope.unit.test.ts`).
 */
export const encodePayload = (payload: unknown): Buffer => Buffer.from(JSON.stringify(payload));

/**
 * The bytes that every delivery of an event carries, in the order `id, type, createdUtc, companyId, payload`
 * (contract, "Events"). They depend on the row alone, so they are the same in every attempt, whoever makes it.
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
