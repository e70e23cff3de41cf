import { eventConsumer, eventStream, eventSubject } from '@causeway/proto';
import { type Bus, type Log, shareRun } from '@causeway/runtime';
import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { Msg } from '@nats-io/transport-node';
import type { Context } from '../context.ts';

export interface KeptStream {
  ensure(): void;
}

/** Now, after each reconnect, and whenever `ensure` is called. */
export const keepStream = async (
  bus: Bus,
  { replicas, log }: { readonly replicas: number; readonly log: Log },
): Promise<KeptStream> => {
  const create = shareRun(() =>
    createStream(bus, replicas).catch((error: unknown) =>
      log.warn({ error }, 'the stream of events could not be created'),
    ),
  );
  bus.onReconnect(() => void create());
  await create();
  return { ensure: () => void create() };
};

/** In memory: the sweeper finds events that the stream lost in the outbox. */
export const createStream = async (bus: Bus, replicas: number): Promise<void> => {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false, timeout: requestTimeoutMs });
  await addStream(manager, {
    name: eventStream,
    subjects: [eventSubject('*', '*.*')],
    retention: RetentionPolicy.Limits,
    storage: StorageType.Memory,
    max_age: maxAgeMs * 1e6,
    max_bytes: 256 * 2 ** 20,
    num_replicas: replicas,
  });
  await manager.consumers.add(eventStream, {
    durable_name: eventConsumer,
    // A message is handed out once: acting on it again would deliver again.
    ack_policy: AckPolicy.None,
    // Older events may have been delivered already.
    deliver_policy: DeliverPolicy.New,
  });
};

const maxAgeMs = 60_000;
const requestTimeoutMs = 3_000;
const nameInUse = 10058;

const addStream = async (
  manager: JetStreamManager,
  config: Partial<StreamConfig> & Pick<StreamConfig, 'name'>,
): Promise<void> => {
  try {
    await manager.streams.add(config);
  } catch (error) {
    // It exists with other limits, which an operator has chosen.
    if (!(error instanceof JetStreamApiError && error.code === nameInUse)) throw error;
  }
};

interface Pulling {
  more(): void;
  /** Messages already requested may still arrive until this resolves. */
  stop(): Promise<void>;
}

/**
 * Sends one request at a time, for the current demand. (The client's own `consume` keeps its buffer full
 * regardless of demand.) A missing consumer, an unreachable server and a lost request look the same and are
 * retried.
 */
export const pull = ({ bus, stream, consumer, demand, take, onMissing, log }: PullOptions): Pulling => {
  const { nc } = bus;
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
  // Only messages of the stream have this reply subject, even if others send to the inbox.
  const replyPrefix = `$JS.ACK.${stream}.${consumer}.`;
  const inbox = bus.inbox();
  let left = 0;
  let silence: NodeJS.Timeout | undefined;
  let pause: NodeJS.Timeout | undefined;
  let stopped = false;
  let missing = false;

  const request = (): void => {
    if (stopped || left > 0 || pause || !bus.connected()) return;
    const batchSize = Math.min(demand(), maxMessages);
    if (batchSize <= 0) return;
    left = batchSize;
    nc.publish(
      subject,
      JSON.stringify({ batch: batchSize, expires: expiresMs * 1e6, idle_heartbeat: heartbeatMs * 1e6 }),
      { reply: inbox },
    );
    heard();
  };
  const heard = (): void => {
    clearTimeout(silence);
    if (left > 0) silence = setTimeout(missed, silenceMs).unref();
  };
  const askAgain = (): void => {
    left = 0;
    request();
  };
  const missed = (): void => {
    onMissing();
    askAgain();
  };
  const waitAndAsk = (): void => {
    left = 0;
    pause ??= setTimeout(() => {
      pause = undefined;
      request();
    }, pauseMs).unref();
  };

  const ended = (code: number, description: string): void => {
    // Heartbeats show that the request is alive; a timeout (408) or an empty stream (404) ends it normally.
    if (code === 100) heard();
    else if (code === 404 || code === 408) askAgain();
    else {
      if (!missing) log.debug({ code, description }, 'the stream of events cannot be read');
      missing = true;
      onMissing();
      waitAndAsk();
    }
  };

  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error) return;
      const code = message.headers?.code ?? 0;
      if (code > 0 && message.data.length === 0) return ended(code, message.headers?.description ?? '');
      if (!message.reply?.startsWith(replyPrefix)) return;
      missing = false;
      left = Math.max(0, left - 1);
      heard();
      take(message);
      request();
    },
  });
  // The server has forgotten the request of the old connection.
  bus.onReconnect(askAgain);
  request();

  return {
    more: request,
    stop: async () => {
      stopped = true;
      clearTimeout(silence);
      clearTimeout(pause);
      // The server stops sending once it processes this; messages sent before that are still taken.
      if (bus.connected())
        await Promise.race([subscription.drain(), new Promise((done) => setTimeout(done, 1_000).unref())]);
      else subscription.unsubscribe();
    },
  };
};

const maxMessages = 512;
const expiresMs = 5_000;
const heartbeatMs = 1_000;
const silenceMs = 2_500;
const pauseMs = 250;

interface PullOptions extends Pick<Context, 'bus' | 'log'> {
  readonly stream: string;
  readonly consumer: string;
  readonly demand: () => number;
  readonly take: (message: Msg) => void;
  readonly onMissing: () => void;
}
