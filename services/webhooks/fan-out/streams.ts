import {
  deliveryConsumer,
  deliveryStream,
  deliverySubject,
  eventStream,
  eventSubject,
  fanOutConsumer,
  leaseMs,
} from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import {
  AckPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';

/**
 * Creates the two streams and their consumers if they are missing. They only make work start sooner: the sweeper or an
 * expired lease starts it seconds later anyway. So they are kept in memory, with a short maximum age.
 * @param replicas copies of each in the NATS cluster.
 */
export const ensureStreams = async (bus: Bus, replicas: number): Promise<void> => {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false, timeout: requestTimeoutMs });
  const shared = (maxAgeMs: number) => ({
    storage: StorageType.Memory,
    max_age: maxAgeMs * 1e6,
    duplicate_window: maxAgeMs * 1e6,
    num_replicas: replicas,
  });
  await addStream(manager, {
    ...shared(eventsMaxAgeMs),
    name: eventStream,
    subjects: [eventSubject('*', '*.*')],
    retention: RetentionPolicy.Limits,
    max_bytes: 256 * mib,
  });
  await manager.consumers.add(eventStream, {
    durable_name: fanOutConsumer,
    ack_policy: AckPolicy.Explicit,
    // If a consumer dies, the sweeper does its work earlier than this.
    ack_wait: ackWaitS * 1e9,
    max_ack_pending: 20_000,
    // Fan-out reads the event from its table.
    headers_only: true,
  });
  await addStream(manager, {
    ...shared(leaseMs),
    name: deliveryStream,
    subjects: [deliverySubject],
    retention: RetentionPolicy.Workqueue,
    max_bytes: 64 * mib,
  });
  await manager.consumers.add(deliveryStream, {
    durable_name: deliveryConsumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitS * 1e9,
    max_ack_pending: 20_000,
  });
};

const mib = 2 ** 20;
const eventsMaxAgeMs = 60_000;
const ackWaitS = 30;
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
