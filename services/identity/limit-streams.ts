import { limitEntrySubject, limitLogNumbers, limitLogStream } from '@causeway/proto';
import { jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/**
 * `access` creates the streams for the gateways, because the creator of a stream decides what flows into and
 * out of it, and a gateway is the most exposed process.
 * Nothing expires: NATS would drop old messages at a start, and a log without its last entry counts as lost.
 * @param servers the tags of the NATS servers that hold the three logs; with fewer than three servers there
 * is one log.
 */
export const ensureLimitStreams = async (nc: NatsConnection, servers: readonly string[]): Promise<void> => {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  for (const log of limitLogNumbers(servers.length))
    await manager.streams.add({
      name: limitLogStream(log),
      subjects: [limitEntrySubject(log, '*')],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      duplicate_window: 1e9,
      allow_rollup_hdrs: true,
      num_replicas: 1,
      ...(servers.length >= 3 && { placement: { cluster: '', tags: [servers[log - 1]!] } }),
    });
};
