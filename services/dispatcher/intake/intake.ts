import {
  decodeEnvelopeHead,
  type EnvelopeHead,
  eventConsumer,
  eventStream,
  matches,
  originHeader,
  outboxLeaseMs,
  payloadIn,
  sequenceHeader,
  versionHeader,
} from '@causeway/proto';
import { createBatch } from '@causeway/runtime';
import type { Msg } from '@nats-io/transport-node';
import type { Context } from '../context.ts';
import type { Delivery, TakenEvent } from '../delivery.ts';
import type { FanOut } from '../fan-out/start-fan-out.ts';
import type { Holder } from '../leases/holder.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Recorder } from '../record/recorder.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Companies, Company, Subscriber } from './companies.ts';
import { type KeptStream, pull } from './stream.ts';

interface Intake {
  stop(): Promise<void>;
}

/**
 * Matches events from the stream against the subscriptions in memory, without a statement. It requests as
 * many as there are free slots, so that the rest stays in the stream for other dispatchers. Messages are not
 * acknowledged: the lease that the event's outbox row is born with protects its deliveries, and if this
 * process dies, the sweeper finds those without rows. An event that arrives late in its lease or has very many
 * subscribers is written as waiting deliveries (`fan-out/`).
 */
export const startIntake = (options: IntakeOptions): Intake => {
  const { bus, scheduler, companies, recorder, holder, stream, fanOut, now, leaseMs, log, metrics } = options;
  const taken = metrics.counter(dispatcherMetrics.dispatcher_first_taken_total).cell();
  const events = metrics.counter(dispatcherMetrics.dispatcher_events_taken_total).cell();
  let meanSubscribers = 1;
  let stopped = false;

  const room = (): number => (stopped ? 0 : scheduler.free().slots - loading.waiting() - loading.underWay());

  const accept = (event: ArrivedEvent, company: Company): void => {
    const subscribers = wanting(company.subscribers(event.type), event.body);
    meanSubscribers += (subscribers.length - meanSubscribers) / 16;
    if (subscribers.length > maxSubscribers) {
      fanOut.write(event);
      return;
    }
    const deliveries = deliveriesOf(event, subscribers, now().getTime() + leaseMs);
    events.value++;
    taken.value += deliveries.open.size;
    recorder.take(deliveries);
    for (const delivery of [...deliveries.open.values()]) scheduler.offer(delivery);
  };

  const loading = createBatch<ArrivedEvent>({
    name: 'events-to-match',
    metrics,
    when: queueMicrotask,
    maxItems: maxBatch,
    maxFlushes: 2,
    flush: async (arrived) => {
      try {
        await companies.load([...new Set(arrived.map(({ company_id }) => company_id))]);
      } catch (error) {
        log.warn({ error }, 'reading subscriptions failed; events are taken when their leases end');
        return;
      }
      for (const event of arrived) {
        const company = companies.get(event.company_id, event.version);
        if (company && isInTime(event)) accept(event, company);
        else fanOut.write(event);
      }
    },
    onFlushed: () => pulling.more(),
  });
  const isInTime = ({ leaseMs: endMs }: ArrivedEvent): boolean => endMs - now().getTime() >= leastLeftMs;

  const take = (event: ArrivedEvent): void => {
    if (!isInTime(event)) {
      fanOut.write(event);
      return;
    }
    const company = companies.get(event.company_id, event.version);
    if (company) accept(event, company);
    else loading.add(event);
  };

  const pulling = pull({
    bus,
    stream: eventStream,
    consumer: eventConsumer,
    log,
    onMissing: stream.ensure,
    demand: () => Math.ceil(room() / Math.max(meanSubscribers, 1 / 4)),
    take: (message) => {
      const event = readArrived(message);
      if (event) take(event);
    },
  });
  for (const onRoom of [scheduler.onFree, recorder.onRoom, holder.onSure]) onRoom(pulling.more);

  return {
    stop: async () => {
      stopped = true;
      await pulling.stop();
      await loading.drain();
    },
  };
};

/** Those whose conditions the event meets. Its payload is read only if there are any. */
const wanting = (subscribers: readonly Subscriber[], body: Buffer): readonly Subscriber[] => {
  if (subscribers.every(({ target }) => target.conditions === null)) return subscribers;
  const payload = payloadIn(body);
  return subscribers.filter(({ target }) => matches(target.conditions, payload));
};

const deliveriesOf = (
  { company_id, event_id, created_utc, leaseMs, type, sequence, origin, body }: ArrivedEvent,
  subscribers: ReturnType<Company['subscribers']>,
  untilMs: number,
) => {
  const open = new Map<number, Delivery>();
  const event = {
    company_id,
    event_id,
    created_utc,
    leaseMs,
    open,
    missed: [],
  } satisfies TakenEvent;
  for (const { subscription_id, target } of subscribers)
    open.set(subscription_id, {
      company_id,
      event_id,
      subscription_id,
      replay_id: 0,
      created_utc,
      event_type: type,
      leaseMs: untilMs,
      event,
      attempt: 1,
      sequence,
      origin,
      source: 'first',
      probe: false,
      target,
      body,
    });
  return event;
};

const maxBatch = 256;
/** Events with more subscribers become waiting deliveries, which all dispatchers share. */
const maxSubscribers = 256;
/** Of an event's lease, of 1.5 s: with less left, its deliveries are written at once. */
const leastLeftMs = 800;

interface IntakeOptions extends Pick<Context, 'bus' | 'now' | 'log' | 'metrics'> {
  readonly scheduler: Scheduler;
  readonly companies: Companies;
  readonly recorder: Pick<Recorder, 'take' | 'onRoom'>;
  readonly holder: Pick<Holder, 'onSure'>;
  readonly stream: KeptStream;
  readonly fanOut: Pick<FanOut, 'write'>;
  readonly leaseMs: number;
}

interface ArrivedEvent extends EnvelopeHead {
  readonly leaseMs: number;
  /** At the event's commit. */
  readonly version: number;
  readonly sequence: number;
  readonly origin: string | null;
  readonly body: Buffer;
}

/** Undefined if the message is malformed: the sweeper finds its event. */
const readArrived = (message: Msg): ArrivedEvent | undefined => {
  const head = decodeEnvelopeHead(message.data);
  const version = message.headers?.get(versionHeader);
  const sequence = message.headers?.get(sequenceHeader);
  if (!head || !version || !sequence) return undefined;
  return {
    ...head,
    leaseMs: head.created_utc.getTime() + outboxLeaseMs,
    version: Number(version),
    sequence: Number(sequence),
    origin: message.headers?.get(originHeader) || null,
    // A copy: a view would keep everything in memory that arrived with it.
    body: Buffer.from(message.data),
  };
};
