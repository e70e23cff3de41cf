import { eventConsumer, eventStream, eventSubject } from '@causeway/proto';
import type { Bus, Log } from '@causeway/runtime';
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

/** Makes sure that the stream of events exists. */
export interface KeptStream {
  /** Call it when the stream or its consumer may be missing. */
  ensure(): void;
}

/**
 * Creates the stream and its consumer now, after each reconnect, and whenever they may be missing.
 * @param options.replicas copies of the stream in the NATS cluster.
 */
export const keepStream = async (
  bus: Bus,
  { replicas, log }: { readonly replicas: number; readonly log: Log },
): Promise<KeptStream> => {
  let creating: Promise<void> | undefined;
  const create = (): Promise<void> => {
    creating ??= createStream(bus, replicas)
      .catch((error: unknown) => log.warn({ error }, 'the stream of events could not be created'))
      .finally(() => {
        creating = undefined;
      });
    return creating;
  };
  bus.onReconnect(() => void create());
  await create();
  return { ensure: () => void create() };
};

/**
 * The stream only makes work start sooner: the sweeper finds in the outbox what it lost. So it is kept in memory, with
 * a short maximum age.
 */
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
    // A message is handed out once: whoever acts on it again would deliver again.
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
