import {
  beatSubject,
  deliveryCommandSubject,
  deliveryHealthSubject,
  deliveryTailSubject,
  eventConsumer,
  eventStream,
  eventSubject,
  gatewayBucket,
  ingestSubject,
  keyBucket,
  keyChangesSubject,
  keyRevokedSubject,
  keyUsedSubject,
  type LaneName,
  laneSubject,
  limitCountSubject,
  limitEntrySubject,
  limitLogNumbers,
  limitLogStream,
  probeSubject,
  replicaSubject,
  replyPrefix,
  requestsCountedSubject,
  type ServiceName,
  services,
  sessionsEndedSubject,
  testDeliverySubject,
} from '@causeway/proto';
import type { NatsPermissions, NatsUser } from './config.ts';

/**
 * One user per service, with only the permissions it needs, locally as in production. The operator (command line,
 * migrations, tests) may do everything.
 */
export const natsUsers = (secretOf: (name: string) => string): NatsUser[] =>
  Object.entries(permissions).map(([name, allowed]) => ({
    name,
    password: secretOf(`nats ${name}`),
    ...(allowed && { permissions: allowed }),
  }));

/** Subscribing to its own inbox, answering requests, and probing the way between two servers. */
const common = (name: string): NatsPermissions => ({
  publish: [probeSubject(name, '*')],
  subscribe: [`_INBOX_${name}.>`, probeSubject(name, '*')],
  answers: true,
});

type Client = 'gateway' | 'operator';

/** Serving lanes, sending the answers to their clients' inboxes, and being listed by `nats micro`. */
const lanes = (service: ServiceName, own: Partial<Record<LaneName, Client>>): NatsPermissions => {
  const entries = Object.entries(own) as [LaneName, Client][];
  const answered: Record<Client, string> = {
    gateway: `${replyPrefix('gateway')}.*.${service}.0`,
    operator: `${replyPrefix('operator')}.*.0`,
  };
  const seen = entries.flatMap(([lane]) => [`$SRV.*.${lane}`, `$SRV.*.${lane}.*`]);
  return withMore(common(service), {
    publish: entries.flatMap(([lane, client]) => [answered[client], beatSubject(lane, '*')]),
    subscribe: [
      '$SRV.*',
      ...seen,
      ...entries.flatMap(([lane]) => [laneSubject(lane), replicaSubject(lane, '*')]),
    ],
  });
};

const bucketStream = (bucket: string): string => `KV_${bucket}`;
const makesStream = (stream: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.CREATE.${stream}`,
];
/** Reading or following a stream with its own consumers. */
const readsStream = (stream: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
  `$JS.API.CONSUMER.DELETE.${stream}.>`,
  `$JS.FC.${stream}.>`,
];
const makesConsumer = (stream: string, consumer: string): string =>
  `$JS.API.CONSUMER.CREATE.${stream}.${consumer}`;
/** Reading single messages of a stream as JSON; without a consumer, nothing of it is delivered elsewhere. */
const readsMessages = (stream: string): string => `$JS.API.STREAM.MSG.GET.${stream}`;
const limitLogs = limitLogNumbers(3).map(limitLogStream);
/** Following a bucket with a watch, and reading single entries. */
const followsBucket = (bucket: string): string[] => [
  `$JS.API.STREAM.INFO.${bucketStream(bucket)}`,
  `$JS.API.STREAM.MSG.GET.${bucketStream(bucket)}`,
  // With the filter in the subject, the consumer can read nothing but the bucket's entries.
  `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}.*.$KV.${bucket}.>`,
  `$JS.API.CONSUMER.INFO.${bucketStream(bucket)}.*`,
  `$JS.API.CONSUMER.DELETE.${bucketStream(bucket)}.*`,
  `$JS.FC.${bucketStream(bucket)}.>`,
];
/** Following the key table: its bucket, and what `access` tells of its changes. */
const followsKeys: NatsPermissions = {
  publish: [...followsBucket(keyBucket), keyChangesSubject],
  subscribe: [keyRevokedSubject],
};
/** Pulling messages from a consumer that all replicas share. */
const pulls = (stream: string, consumer: string): string => `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
const writesBucket = (bucket: string): string => `$KV.${bucket}.>`;

const withMore = (base: NatsPermissions, more: NatsPermissions): NatsPermissions => ({
  ...base,
  publish: [...base.publish, ...more.publish],
  subscribe: [...base.subscribe, ...more.subscribe],
});

const permissions: Readonly<Record<string, NatsPermissions | undefined>> = {
  operator: undefined,
  gateway: withMore(common('gateway'), {
    publish: [
      ...services.flatMap((service) => [laneSubject(service), replicaSubject(service, '*')]),
      keyUsedSubject,
      requestsCountedSubject,
      limitCountSubject('*'),
      limitEntrySubject('*', '*'),
      writesBucket(gatewayBucket),
      '$JS.API.INFO',
      ...limitLogs.map(readsMessages),
      ...limitLogs.map((stream) => `$JS.API.STREAM.PURGE.${stream}`),
      ...followsKeys.publish,
      `$JS.API.STREAM.INFO.${bucketStream(gatewayBucket)}`,
    ],
    subscribe: [
      `${replyPrefix('gateway')}.>`,
      ...services.map((service) => beatSubject(service, '*')),
      ...followsKeys.subscribe,
      limitCountSubject('*'),
      sessionsEndedSubject,
      deliveryTailSubject('*'),
    ],
  }),
  access: withMore(lanes('access', { access: 'gateway', operator: 'operator' }), {
    publish: [
      keyRevokedSubject,
      sessionsEndedSubject,
      writesBucket(keyBucket),
      '$JS.API.INFO',
      ...makesStream(bucketStream(keyBucket)),
      ...readsStream(bucketStream(keyBucket)),
      // To purge entries of keys that were revoked long ago.
      `$JS.API.STREAM.PURGE.${bucketStream(keyBucket)}`,
      ...makesStream(bucketStream(gatewayBucket)),
      ...limitLogs.flatMap(makesStream),
      `$JS.API.STREAM.MSG.GET.${bucketStream(gatewayBucket)}`,
    ],
    subscribe: [keyUsedSubject, requestsCountedSubject, keyChangesSubject],
  }),
  crm: withMore(lanes('crm', { crm: 'gateway' }), {
    publish: [eventSubject('*', '*.*'), ...followsKeys.publish],
    subscribe: [ingestSubject, ...followsKeys.subscribe],
  }),
  webhooks: withMore(lanes('webhooks', { webhooks: 'gateway', 'operator-webhooks': 'operator' }), {
    publish: [ingestSubject, deliveryCommandSubject, testDeliverySubject, ...followsKeys.publish],
    subscribe: followsKeys.subscribe,
  }),
  dispatcher: withMore(common('dispatcher'), {
    publish: [
      ...makesStream(eventStream),
      makesConsumer(eventStream, eventConsumer),
      pulls(eventStream, eventConsumer),
      deliveryTailSubject('*'),
      deliveryHealthSubject,
    ],
    subscribe: [deliveryCommandSubject, testDeliverySubject, deliveryHealthSubject],
  }),
};
