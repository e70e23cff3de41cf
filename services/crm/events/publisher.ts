import {
  encodeEnvelope,
  eventSubject,
  originHeader,
  sequenceHeader,
  versionHeader,
  type WrittenNotice,
  writtenSubject,
} from '@causeway/proto';
import { atTurnEnd, type Bus, type Metrics } from '@causeway/runtime';
import { headers as natsHeaders } from '@nats-io/transport-node';
import { crmMetrics } from '../metrics.ts';
import type { CommittedEvent, Written } from './event-log.ts';

interface Publisher {
  /** Publishes without waiting; nobody learns whether the events arrived. */
  publish(events: readonly CommittedEvent[]): void;
  /** Tells waiting readers, once a turn, that there is more to read. They also look without being told. */
  announce(written: Written): void;
  /** Resolves once everything published has been sent. */
  drain(): Promise<void>;
}

/**
 * What a group of actions has committed is published at the end of the turn, in one write with the answers: each write costs
 * some 50 µs, and there were three.
 *
 * An event that cannot be sent, because the connection is down or the server is slow, is skipped: the
 * dispatchers' sweeper finds its row in the outbox when its lease ends.
 */
export const openPublisher = ({
  bus,
  metrics,
  maxBytes = maxOnTheirWayBytes,
}: PublisherOptions): Publisher => {
  let onTheirWayBytes = 0;
  let confirming: Promise<void> | undefined;
  const published = metrics?.counter(crmMetrics.crm_events_published_total).cell();
  const skipped = metrics?.counter(crmMetrics.crm_events_unpublished_total).cell();

  /** A round trip confirms that everything before it has reached the server. */
  const confirm = async (): Promise<void> => {
    await new Promise<void>(atTurnEnd);
    const bytes = onTheirWayBytes;
    // A lost connection loses everything in flight.
    await bus.nc.flush().catch(() => {});
    onTheirWayBytes -= bytes;
    confirming = undefined;
  };

  const announced = { events: new Set<number>(), changes: new Set<number>() };
  let announcing = false;
  const sendAnnounced = (): void => {
    announcing = false;
    const notice: WrittenNotice = { events: [...announced.events], changes: [...announced.changes] };
    announced.events.clear();
    announced.changes.clear();
    if (bus.connected()) bus.nc.publish(writtenSubject, JSON.stringify(notice));
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
        headers.set(versionHeader, String(event.subscriptionsVersion));
        headers.set(sequenceHeader, String(event.sequence));
        headers.set(originHeader, event.origin);
        atTurnEnd(() => bus.nc.publish(eventSubject(event.company_id, event.type), envelope, { headers }));
        onTheirWayBytes += envelope.length;
        if (published) published.value++;
      }
      if (onTheirWayBytes > maxBytes / 4) confirming ??= confirm();
    },
    announce: (written) => {
      if (!announcing) atTurnEnd(sendAnnounced);
      announcing = true;
      for (const kind of ['events', 'changes'] as const)
        for (const companyId of written[kind]) announced[kind].add(companyId);
    },
    drain: async () => {
      if (!bus.connected()) return;
      await confirming;
      await confirm();
    },
  };
};

/** The most bytes held in memory while the server is slow. */
const maxOnTheirWayBytes = 16 * 2 ** 20;

interface PublisherOptions {
  readonly bus: Bus;
  readonly metrics?: Metrics | undefined;
  readonly maxBytes?: number;
}
