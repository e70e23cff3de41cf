import { encodeEnvelope, eventStream, eventSubject, type StoredEvent } from '@causeway/proto';
import { type Bus, type Metrics, type Span, setTrace, type Tracer } from '@causeway/runtime';
import { headers as natsHeaders } from '@nats-io/transport-node';

/** Tells of committed events. */
export interface Publisher {
  /**
   * Sends them on their way; nobody waits for it, and nobody hears whether they arrived.
   * @param causes in the order of the events: whose traces they are part of.
   */
  publish(events: readonly StoredEvent[], causes?: readonly Cause[]): void;
  /** Resolves when what was published has left. */
  drain(): Promise<void>;
}

/** What an event came of, as far as it is traced. */
export interface Cause {
  readonly span?: Span | undefined;
}

/**
 * An event is published when its transaction has been committed. That wakes whoever fans events out, and no more:
 * what must happen is the event's row in the outbox, which goes in the transaction that makes its deliveries
 * (services/webhooks/fan-out). So an event without a connection, or beyond what the server takes off our hands, is
 * simply not published; its row is swept two seconds later.
 */
export const openPublisher = ({
  bus,
  metrics,
  tracer,
  maxBytes = maxOnTheirWayBytes,
}: PublisherOptions): Publisher => {
  let onTheirWayBytes = 0;
  let confirming: Promise<void> | undefined;
  const published = metrics?.counter('crm_events_published_total', 'Events published').cell();
  const skipped = metrics
    ?.counter('crm_events_unpublished_total', 'Events left to the sweeper, as the server was away or slow')
    .cell();

  /** One round trip at a time tells that all before it has reached the server. */
  const confirm = async (): Promise<void> => {
    while (onTheirWayBytes > 0) {
      const bytes = onTheirWayBytes;
      try {
        await bus.nc.flush();
      } catch {
        // A connection that was lost has taken all with it.
      }
      onTheirWayBytes -= bytes;
    }
    confirming = undefined;
  };

  return {
    publish: (events, causes) => {
      for (const [at, event] of events.entries()) {
        const envelope = encodeEnvelope(event);
        if (!bus.connected() || onTheirWayBytes + envelope.length > maxBytes) {
          if (skipped) skipped.value++;
          continue;
        }
        const headers = natsHeaders();
        headers.set('Nats-Msg-Id', String(event.event_id));
        const cause = causes?.[at]?.span;
        const span = tracer && cause && startPublishing(tracer, cause, event, envelope);
        if (span) setTrace(headers, span);
        bus.nc.publish(eventSubject(event.company_id, event.type), envelope, { headers });
        span?.end();
        onTheirWayBytes += envelope.length;
        if (published) published.value++;
      }
      if (onTheirWayBytes > 0) confirming ??= confirm();
    },
    drain: async () => {
      if (bus.connected()) await confirming;
    },
  };
};

/** By OpenTelemetry's conventions for messaging; each event goes on in the trace of the call that caused it. */
const startPublishing = (
  tracer: Tracer,
  cause: Span,
  event: StoredEvent,
  envelope: Buffer,
): Span | undefined =>
  tracer.start(`publish ${eventStream}`, {
    kind: 'producer',
    parents: [cause],
    attributes: {
      'messaging.system': 'nats',
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'publish',
      'messaging.destination.name': eventStream,
      'messaging.message.id': String(event.event_id),
      'messaging.message.body.size': envelope.length,
      'causeway.event.type': event.type,
    },
  });

/** What the process holds in memory at most while the server is slow. */
const maxOnTheirWayBytes = 16 * 2 ** 20;

export interface PublisherOptions {
  readonly bus: Bus;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
  readonly maxBytes?: number;
}
