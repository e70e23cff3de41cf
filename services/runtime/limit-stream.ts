import { limitLogSubject, limitStream } from '@causeway/proto';
import { jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/**
 * Makes the stream of rate-limit counts where it is missing. `access` does so for the gateways: whoever makes a
 * stream decides what flows into it and out of it, and a gateway is the most exposed process.
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

/** Twice the window and a margin: older counts belong to windows that nobody asks for any more. */
const maxAgeSeconds = 180;
