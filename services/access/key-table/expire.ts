import { keyBucket, keyEntryPrefix } from '@causeway/proto';
import { jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isRefusal, readTable } from './read.ts';

/**
 * How long the table shows that a key was revoked. Afterwards its key is unknown, which is a 401 as well. It is as
 * long as that because a database that was restored from a backup learns from the table which keys were revoked
 * since (`lift-rows.ts`).
 */
export const keepRevokedMs = 7 * 86_400_000;

/**
 * Removes entries that have refused their key for `keepRevokedMs`: else the table grows with every key that anybody
 * ever revoked. Gateways have forgotten them long before. @returns how many were removed.
 */
export const expireRevoked = async (nc: NatsConnection, bucket: KV, nowMs: number): Promise<number> => {
  const { streams } = await jetstreamManager(nc, { checkAPI: false });
  let removed = 0;
  for (const [name, { text, revision, createdMs }] of await readTable(bucket)) {
    if (!name.startsWith(keyEntryPrefix) || createdMs > nowMs - keepRevokedMs || !isRefusal(text)) continue;
    // Up to this revision: whoever has written a newer entry meanwhile keeps it.
    await streams.purge(`KV_${keyBucket}`, { filter: `$KV.${keyBucket}.${name}`, seq: revision + 1 });
    removed++;
  }
  return removed;
};
