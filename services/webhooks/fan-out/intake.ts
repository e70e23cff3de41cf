import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, eventStream, fanOutConsumer, isEventType } from '@causeway/proto';
import { type Bus, type Log, traceOf } from '@causeway/runtime';
import { type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import type { EventKey } from './fan-out-events.ts';

export interface Intake {
  /** Takes nothing more; what waits goes back to the stream. Resolves when the last batch has ended. */
  drain(): Promise<void>;
}

/**
 * Takes events from the stream, as many at a time as are there: what arrives while a batch is at work becomes the
 * next one, so an idle replica makes nobody wait and a busy one makes large batches.
 */
export const startIntake = ({ bus, log, ensure, work, batchSize, maxBatches }: IntakeOptions): Intake => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let waiting: JsMsg[] = [];
  let running = 0;
  let woken = false;
  let messages: ConsumerMessages | undefined;
  let onRoom: (() => void) | undefined;
  let onIdle: (() => void) | undefined;

  const startBatches = (): void => {
    woken = false;
    while (running < maxBatches && waiting.length > 0 && !signal.aborted) {
      const batch = waiting.slice(0, batchSize);
      waiting = waiting.slice(batchSize);
      running++;
      void runBatch(batch).finally(() => {
        running--;
        startBatches();
      });
    }
    if (waiting.length < maxWaiting(batchSize)) onRoom?.();
    if (running === 0) onIdle?.();
  };

  const runBatch = async (batch: readonly JsMsg[]): Promise<void> => {
    const events = batch.flatMap((message) => eventOf(message) ?? []);
    const done = await work(events, signal);
    for (const message of batch) {
      if (done) message.ack();
      else message.nak();
    }
  };

  const take = async (): Promise<void> => {
    await ensure();
    const consumer = await jetstream(bus.nc).consumers.get(eventStream, fanOutConsumer);
    messages = await consumer.consume({
      max_messages: 2 * batchSize,
      // A stream that is lost is noticed within two heartbeats.
      expires: 30_000,
      idle_heartbeat: 1_000,
      abort_on_missing_resource: true,
    });
    if (signal.aborted) return void messages.close();
    for await (const message of messages) {
      waiting.push(message);
      if (!woken) {
        woken = true;
        // After all the messages of this tick have been taken.
        setImmediate(startBatches);
      }
      if (waiting.length >= maxWaiting(batchSize))
        await new Promise<void>((resolve) => {
          onRoom = resolve;
        });
    }
  };

  const taking = (async () => {
    let told = false;
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await take();
      } catch (error) {
        if (!told) log.warn({ error }, 'no events from the stream; the sweeper takes them from the table');
        told = true;
      }
      // It has worked for a while: the next failure is news.
      if (performance.now() - startedMs > quietMs) told = false;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  })();

  return {
    drain: async () => {
      stopping.abort();
      onRoom?.();
      void messages?.close();
      for (const message of waiting) message.nak();
      waiting = [];
      await taking;
      if (running > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    },
  };
};

/** What is taken and not begun, so that the stream's length tells how far behind all replicas are. */
const maxWaiting = (batchSize: number): number => 2 * batchSize;
const pauseMs = 500;
const quietMs = 30_000;

export interface IntakeOptions {
  readonly bus: Bus;
  readonly log: Log;
  /** Makes the stream and the consumer where they are missing. */
  readonly ensure: () => Promise<void>;
  /** Fans events out, however long it takes. False: it was told to stop before it was done. */
  readonly work: (events: readonly EventKey[], signal: AbortSignal) => Promise<boolean>;
  readonly batchSize: number;
  readonly maxBatches: number;
}

/** Subject and message id say all that is needed. Undefined: not a message of ours. */
const eventOf = (message: JsMsg): EventKey | undefined => {
  const { subject, headers } = message;
  const [, company_id, ...type] = subject.split('.');
  const key = { company_id: Number(company_id), event_id: Number(headers?.get('Nats-Msg-Id')) };
  if (!Number.isSafeInteger(key.company_id) || !(key.event_id > 0) || !isEventType(type.join('.')))
    return undefined;
  const traceparent = traceOf(message);
  return { ...key, type: type.join('.') as EventType, ...(traceparent && { traceparent }) };
};
