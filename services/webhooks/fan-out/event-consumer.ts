import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, eventStream, fanOutConsumer, isEventType } from '@causeway/proto';
import { type Bus, createBatch, type Log, type Metrics, traceOf } from '@causeway/runtime';
import { type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { EventKey } from './fan-out-events.ts';

export interface EventConsumer {
  /** Takes no more messages and returns waiting ones to the stream. Resolves when the last batch has ended. */
  drain(): Promise<void>;
}

/**
 * Takes events from the stream in batches. Events that arrive during a batch become the next one: an idle replica
 * delays no event, and a busy one makes large batches.
 */
export const startEventConsumer = (options: EventConsumerOptions): EventConsumer => {
  const { bus, log, metrics, ensure, work, batchSize, maxBatches } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let messages: ConsumerMessages | undefined;

  const fanOut = async (taken: readonly JsMsg[]): Promise<void> => {
    const events = taken.flatMap((message) => eventOf(message) ?? []);
    const done = await work(events, signal);
    for (const message of taken) {
      if (done) message.ack();
      else message.nak();
    }
  };
  const batch = createBatch<JsMsg>({
    name: 'events',
    metrics,
    when: setImmediate,
    maxItems: batchSize,
    maxFlushes: maxBatches,
    // The rest stays in the stream, so its length shows how far behind all replicas are.
    maxWaiting: 2 * batchSize,
    flush: fanOut,
  });

  const take = async (): Promise<void> => {
    await ensure();
    const consumer = await jetstream(bus.nc).consumers.get(eventStream, fanOutConsumer);
    messages = await consumer.consume({
      max_messages: 2 * batchSize,
      // Two missing heartbeats mean that the stream is lost.
      expires: 30_000,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
    });
    if (signal.aborted) return void messages.close();
    for await (const message of messages) {
      if (signal.aborted || !batch.add(message)) message.nak();
      await batch.room();
    }
  };

  const taking = (async () => {
    let logged = false;
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await take();
      } catch (error) {
        if (!logged) log.warn({ error }, 'no events from the stream; the sweeper takes them from the table');
        logged = true;
      }
      // After a while without a failure, the next one is logged again.
      if (performance.now() - startedMs > quietMs) logged = false;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  })();

  return {
    drain: async () => {
      stopping.abort();
      void messages?.close();
      for (const message of batch.takeBack()) message.nak();
      await taking;
      await batch.drain();
    },
  };
};

const pauseMs = 500;
const quietMs = 30_000;

export interface EventConsumerOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Creates the stream and the consumer if they are missing. */
  readonly ensure: () => Promise<void>;
  /** Fans events out, however long it takes. @returns false if it was stopped before it was done. */
  readonly work: (events: readonly EventKey[], signal: AbortSignal) => Promise<boolean>;
  readonly batchSize: number;
  readonly maxBatches: number;
}

/** The event's key, from the subject and the message id. Undefined if the message is not an event. */
const eventOf = (message: JsMsg): EventKey | undefined => {
  const { subject, headers } = message;
  const [, company_id, ...type] = subject.split('.');
  const key = { company_id: Number(company_id), event_id: Number(headers?.get('Nats-Msg-Id')) };
  if (!Number.isSafeInteger(key.company_id) || !(key.event_id > 0) || !isEventType(type.join('.')))
    return undefined;
  const traceparent = traceOf(message);
  return { ...key, type: type.join('.') as EventType, ...(traceparent && { traceparent }) };
};
