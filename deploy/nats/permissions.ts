import {
  beatSubject,
  deliveryCommandSubject,
  deliveryHealthSubject,
  eventConsumer,
  eventStream,
  eventSubject,
  gatewayBucket,
  ingestSubject,
  keyBucket,
  keyChangesSubject,
  keyRevokedSubject,
  type LaneName,
  laneSubject,
  limitCountSubject,
  limitEntrySubject,
  limitLogNumbers,
  limitLogStream,
  probeSubject,
  replicaSubject,
  replyPrefix,
  requestsLoggedSubject,
  type ServiceName,
  services,
  testDeliverySubject,
  writtenSubject,
} from '@causeway/proto';

/** One user per service with only the permissions it needs. The operator may do everything. */
export const natsUsers = (secretOf: (name: string) => string): NatsUser[] =>
  Object.entries(permissions).map(([name, allowed]) => ({
    name,
    password: secretOf(`nats ${name}`),
    ...(allowed && { permissions: allowed }),
  }));

const common = (name: string): NatsPermissions => ({
  publish: [probeSubject(name, '*')],
  subscribe: [`_INBOX_${name}.>`, probeSubject(name, '*')],
  answers: true,
});

type Client = 'gateway' | 'operator';

const lanes = (service: ServiceName, clients: Partial<Record<LaneName, Client>>): NatsPermissions => {
  const entries = Object.entries(clients) as [LaneName, Client][];
  const answered: Record<Client, string> = {
    gateway: `${replyPrefix('gateway')}.*.${service}.0`,
    operator: `${replyPrefix('operator')}.*.0`,
  };
  return withMore(common(service), {
    publish: entries.flatMap(([lane, client]) => [answered[client], beatSubject(lane, '*')]),
    subscribe: entries.flatMap(([lane]) => [laneSubject(lane), replicaSubject(lane, '*')]),
  });
};

const bucketStream = (bucket: string): string => `KV_${bucket}`;
const makesStream = (stream: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.CREATE.${stream}`,
];
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
/** Without a consumer, nothing of the stream is delivered elsewhere. */
const readsMessages = (stream: string): string => `$JS.API.STREAM.MSG.GET.${stream}`;
const limitLogs = limitLogNumbers(3).map(limitLogStream);
const followsBucket = (bucket: string): string[] => [
  `$JS.API.STREAM.INFO.${bucketStream(bucket)}`,
  `$JS.API.STREAM.MSG.GET.${bucketStream(bucket)}`,
  // With the filter in the subject, the consumer can read nothing but the bucket's entries.
  `$JS.API.CONSUMER.CREATE.${bucketStream(bucket)}.*.$KV.${bucket}.>`,
  `$JS.API.CONSUMER.INFO.${bucketStream(bucket)}.*`,
  `$JS.API.CONSUMER.DELETE.${bucketStream(bucket)}.*`,
  `$JS.FC.${bucketStream(bucket)}.>`,
];
const followsKeys: NatsPermissions = {
  publish: [...followsBucket(keyBucket), keyChangesSubject],
  subscribe: [keyRevokedSubject],
};
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
      requestsLoggedSubject,
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
      writtenSubject,
    ],
  }),
  access: withMore(lanes('access', { access: 'gateway', operator: 'operator' }), {
    publish: [
      keyRevokedSubject,
      testDeliverySubject,
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
    subscribe: [requestsLoggedSubject, keyChangesSubject],
  }),
  crm: withMore(lanes('crm', { crm: 'gateway', 'operator-crm': 'operator' }), {
    publish: [eventSubject('*', '*.*'), writtenSubject, ...followsKeys.publish],
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
      deliveryHealthSubject,
    ],
    subscribe: [deliveryCommandSubject, testDeliverySubject, deliveryHealthSubject],
  }),
};

export interface NatsUser {
  readonly name: string;
  readonly password: string;
  readonly permissions?: NatsPermissions;
}

interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Any request that it received, on the request's reply subject. */
  readonly answers?: boolean;
}

interface NatsConfig {
  /** -1 picks a free port and announces it in `portsDir`. */
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
  readonly portsDir: string;
  readonly users: readonly NatsUser[];
  readonly cluster?: NatsMember;
}

export interface NatsMember {
  readonly name: string;
  readonly port: number;
  readonly others: readonly number[];
  /** Only characters that a URL needs not escape. */
  readonly password: string;
}

/** JSON is part of the file's syntax. */
export const renderNatsConfig = (config: NatsConfig): string =>
  `${JSON.stringify(
    {
      listen: `127.0.0.1:${config.port}`,
      http: `127.0.0.1:${config.monitorPort}`,
      ports_file_dir: config.portsDir,
      // A body is at most 1 MiB; a frame of several, with their headers, must fit.
      max_payload: 4 * 2 ** 20,
      // A client that stops answering keeps its share of the requests until it is dropped, after nine seconds.
      ping_interval: '3s',
      ping_max: 2,
      jetstream: { store_dir: config.storeDir },
      ...(config.cluster && {
        server_name: config.cluster.name,
        server_tags: [config.cluster.name],
        cluster: cluster(config.cluster),
      }),
      ...(config.users.length === 0 ? {} : { authorization: authorization(config.users) }),
    },
    undefined,
    2,
  )}\n`;

const cluster = ({ port, others, password }: NatsMember) => ({
  name: 'causeway',
  listen: `127.0.0.1:${port}`,
  authorization: { user: 'routes', password, timeout: 3 },
  routes: others.map((other) => `nats-route://routes:${password}@127.0.0.1:${other}`),
  // Clients have the URLs of all servers and use only those.
  no_advertise: true,
  // Each server lists the others. One that returns would be told to them under its own port, and routes to it would
  // pass beside the links that `npm run faults` cuts.
  advertise: '127.0.0.1:1',
});

export const authorization = (users: readonly NatsUser[]) => ({ users: users.map(renderUser) });

const renderUser = ({ name, password, permissions }: NatsUser) => ({
  user: name,
  password,
  ...(permissions && {
    permissions: {
      publish: { allow: permissions.publish },
      subscribe: { allow: permissions.subscribe },
      ...(permissions.answers ? { allow_responses: { max: 1, expires: '1m' } } : {}),
    },
  }),
});
