import { limitLogSubject, limitStream } from '@causeway/proto';
import { jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/**
 * Creates the stream of rate-limit counts if it is missing. `access` does this for the gateways: the creator of a
 * stream decides what flows into and out of it, and a gateway is the most exposed process.
 * @param replicas copies in the NATS cluster.
 */
export const ensureLimitStream = async (nc: NatsConnection, replicas: number): Promise<void> => {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  await manager.streams.add({
    name: limitStream,
    subjects: [limitLogSubject('*')],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: maxAgeSeconds * 1e9,
    duplicate_window: 1e9,
    allow_rollup_hdrs: true,
    num_replicas: replicas,
  });
};

/** Twice the window plus a margin: older counts belong to windows that are no longer needed. */
const maxAgeSeconds = 180;
