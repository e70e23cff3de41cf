import { gatewayBucket, gatewayBucketSettings, keyBucket } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { type KV, Kvm } from '@nats-io/kv';

/**
 * Opens the bucket of the key table and creates it if it does not exist, including after NATS has lost it. It is on
 * disk because it is large, and keeps one value per key because nobody reads older ones. Single reads go to the
 * stream's leader (`allow_direct` off): a follower may answer with an entry that has been replaced.
 */
export const openKeyBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(keyBucket, { history: 1, replicas, allow_direct: false });

/** Creates the bucket in which gateways register, if it does not exist. */
export const openGatewayBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(gatewayBucket, { ...gatewayBucketSettings, replicas });
