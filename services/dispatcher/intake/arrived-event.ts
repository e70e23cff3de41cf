import { decodeEnvelopeHead, type EnvelopeHead, outboxLeaseMs, versionHeader } from '@causeway/proto';
import { traceOf } from '@causeway/runtime';
import type { Msg } from '@nats-io/transport-node';

/** An event as it arrives from the stream. */
export interface ArrivedEvent extends EnvelopeHead {
  /** The end of its outbox row's lease. */
  readonly leaseMs: number;
  /** The version of its company's subscriptions at its commit. Undefined: an older release sent it. */
  readonly version: number | undefined;
  /** The envelope. */
  readonly body: Buffer;
  readonly traceparent?: string | undefined;
}

/** @returns undefined if the message is not an event. */
export const readArrived = (message: Msg): ArrivedEvent | undefined => {
  const head = decodeEnvelopeHead(message.data);
  if (!head) return undefined;
  const version = message.headers?.get(versionHeader);
  return {
    ...head,
    leaseMs: head.created_utc.getTime() + outboxLeaseMs,
    version: version ? Number(version) : undefined,
    // A copy: a view would keep everything in memory that arrived with it.
    body: Buffer.from(message.data),
    traceparent: traceOf(message),
  };
};
