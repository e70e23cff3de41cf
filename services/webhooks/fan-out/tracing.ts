import { type AnnouncedEvent, eventStream, fanOutConsumer } from '@causeway/proto';
import { type Tracer, traced } from '@causeway/runtime';
import type { EventKey } from './fan-out-events.ts';

type FanOut = (events: readonly EventKey[], signal: AbortSignal) => Promise<boolean>;

/**
 * Records each event of a batch as a consumer span in its own trace, and the batch's transactions as one span under
 * the first sampled event, linked with the others. The events continue under the contexts of their spans.
 */
export const tracedFanOut =
  (tracer: Tracer, fanOut: FanOut): FanOut =>
  async (events, signal) => {
    const spans = events.map((event) =>
      tracer.start(`process ${eventStream}`, {
        kind: 'consumer',
        parents: [event.traceparent],
        attributes: {
          'messaging.system': 'nats',
          'messaging.operation.type': 'process',
          'messaging.operation.name': 'process',
          'messaging.destination.name': eventStream,
          'messaging.consumer.group.name': fanOutConsumer,
          'messaging.message.id': String(event.event_id),
          'causeway.company.id': event.company_id,
        },
      }),
    );
    const own = events.map(({ traceparent: _, ...event }, at) => {
      const span = spans[at];
      return span ? { ...event, traceparent: span.traceparent } : event;
    });
    const attributes = { 'messaging.batch.message_count': events.length };
    const done = await traced(tracer, 'fan out', { kind: 'internal', parents: spans, attributes }, () =>
      fanOut(own, signal),
    );
    for (const span of spans) span?.end();
    return done;
  };

/** Continues the traces of the events in their first attempts. */
export const withTraces = (
  announced: readonly AnnouncedEvent[],
  events: readonly EventKey[],
): readonly AnnouncedEvent[] => {
  const traces = new Map(
    events.flatMap(({ event_id, traceparent }) => (traceparent ? [[event_id, traceparent] as const] : [])),
  );
  if (traces.size === 0) return announced;
  return announced.map((one) => ({ ...one, traceparent: traces.get(one.event_id) }));
};
