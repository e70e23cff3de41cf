import { gatewayBucket, gatewayBucketSettings, keyBucket } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { type KV, Kvm } from '@nats-io/kv';

/**
 * Opens the bucket of the key table, making it where it does not exist, which is also how it comes back
 * after NATS has lost it. On disk, since it is large; one value a key, since nobody asks for older ones.
 * Single reads go to the stream's leader (`allow_direct` off): a follower may answer with an entry that has
 * been replaced.
 */
export const openKeyBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(keyBucket, { history: 1, replicas, allow_direct: false });

/** Makes sure that gateways have a place to register at. */
export const openGatewayBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(gatewayBucket, { ...gatewayBucketSettings, replicas });
