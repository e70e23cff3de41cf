import { encodeEnvelope, eventSubject, type StoredEvent } from '@causeway/proto';
import type { Bus, Metrics } from '@causeway/runtime';
import { headers as natsHeaders } from '@nats-io/transport-node';

/** Tells of committed events. */
export interface Publisher {
  /** Sends them on their way; nobody waits for it, and nobody hears whether they arrived. */
  publish(events: readonly StoredEvent[]): void;
  /** Resolves when what was published has left. */
  drain(): Promise<void>;
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
    publish: (events) => {
      for (const event of events) {
        const envelope = encodeEnvelope(event);
        if (!bus.connected() || onTheirWayBytes + envelope.length > maxBytes) {
          if (skipped) skipped.value++;
          continue;
        }
        const headers = natsHeaders();
        headers.set('Nats-Msg-Id', String(event.event_id));
        bus.nc.publish(eventSubject(event.company_id, event.type), envelope, { headers });
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

/** What the process holds in memory at most while the server is slow. */
const maxOnTheirWayBytes = 16 * 2 ** 20;

export interface PublisherOptions {
  readonly bus: Bus;
  readonly metrics?: Metrics | undefined;
  readonly maxBytes?: number;
}
