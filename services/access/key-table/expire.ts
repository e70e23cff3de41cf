import { keyBucket, keyEntryPrefix } from '@causeway/proto';
import { jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { isRefusal, readTable } from './read.ts';

/**
 * How long the table shows that a key was revoked. Afterwards the key is unknown, which is a 401 as well. It is this
 * long because a database restored from a backup learns from the table which keys have been revoked since
 * (`lift-rows.ts`).
 */
export const keepRevokedMs = 7 * 86_400_000;

/**
 * Removes entries that have refused their key for `keepRevokedMs`; otherwise the table would grow with every key ever
 * revoked. Gateways have forgotten them long before. @returns how many were removed.
 */
export const expireRevoked = async (nc: NatsConnection, bucket: KV, nowMs: number): Promise<number> => {
  const { streams } = await jetstreamManager(nc, { checkAPI: false });
  let removed = 0;
  for (const [name, { text, revision, createdMs }] of await readTable(bucket)) {
    if (!name.startsWith(keyEntryPrefix) || createdMs > nowMs - keepRevokedMs || !isRefusal(text)) continue;
    // Up to this revision, so that a newer entry written meanwhile stays.
    await streams.purge(`KV_${keyBucket}`, { filter: `$KV.${keyBucket}.${name}`, seq: revision + 1 });
    removed++;
  }
  return removed;
};
