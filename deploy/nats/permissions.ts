import {
  deliveryConsumer,
  deliveryStream,
  deliverySubject,
  deliveryTailSubject,
  eventStream,
  eventSubject,
  gatewayBucket,
  ingestSubject,
  keyBucket,
  keyRevokedSubject,
  keyUsedSubject,
  type LaneName,
  laneSubject,
  limitCountSubject,
  limitLogSubject,
  limitStream,
  replyPrefix,
  requestsCountedSubject,
  sessionsEndedSubject,
  testDeliverySubject,
} from '@causeway/proto';
import type { NatsPermissions, NatsUser } from './config.ts';

/**
 * One user a service, who may touch what it needs and nothing else; locally as in production. The operator
 * (command line, migrations, tests) may do everything.
 */
export const natsUsers = (secretOf: (name: string) => string): NatsUser[] =>
  Object.entries(permissions).map(([name, allowed]) => ({
    name,
    password: secretOf(`nats ${name}`),
    ...(allowed && { permissions: allowed }),
  }));

/** Listening to its own inbox, and answering `nats micro ls|ping|stats`. */
const common = (name: string) => ({
  publish: [] as string[],
  subscribe: [`_INBOX_${name}.>`, '$SRV.>'],
  answers: true,
});

/** Taking requests from a lane and sending the answers to whoever asked. */
const lane = (name: LaneName, service: string = name): NatsPermissions => {
  const { subscribe, ...rest } = common(service);
  return { ...rest, publish: [replyPrefix('>')], subscribe: [...subscribe, laneSubject(name)] };
};

/** What nats.js asks of JetStream to make sure of a stream, read it and follow it. */
const readsStream = (stream: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.CREATE.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
  `$JS.API.CONSUMER.DELETE.${stream}.>`,
  `$JS.ACK.${stream}.>`,
  `$JS.FC.${stream}.>`,
];
const bucketStream = (bucket: string): string => `KV_${bucket}`;
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
      laneSubject('crm'),
      laneSubject('webhooks'),
      laneSubject('access'),
      keyUsedSubject,
      requestsCountedSubject,
      limitCountSubject('*', '*'),
      limitLogSubject('*'),
      writesBucket(gatewayBucket),
      '$JS.API.INFO',
      ...readsStream(limitStream),
      ...readsStream(bucketStream(keyBucket)),
      ...readsStream(bucketStream(gatewayBucket)),
    ],
    subscribe: [
      `${replyPrefix('gateway')}.>`,
      keyRevokedSubject,
      limitCountSubject('*', '*'),
      sessionsEndedSubject,
      deliveryTailSubject('*'),
    ],
  }),
  access: withMore(lane('operator', 'access'), {
    publish: [
      keyRevokedSubject,
      sessionsEndedSubject,
      writesBucket(keyBucket),
      '$JS.API.INFO',
      ...readsStream(bucketStream(keyBucket)),
      ...readsStream(bucketStream(gatewayBucket)),
    ],
    subscribe: [laneSubject('access'), keyUsedSubject, requestsCountedSubject],
  }),
  crm: withMore(lane('crm'), {
    publish: [eventSubject('*', '*.*')],
    subscribe: [ingestSubject],
  }),
  webhooks: withMore(lane('webhooks'), {
    publish: [
      ingestSubject,
      deliverySubject,
      testDeliverySubject,
      ...readsStream(eventStream),
      `$JS.API.STREAM.INFO.${deliveryStream}`,
      `$JS.API.STREAM.CREATE.${deliveryStream}`,
      `$JS.API.CONSUMER.CREATE.${deliveryStream}.${deliveryConsumer}`,
    ],
    subscribe: [laneSubject('operator-webhooks')],
  }),
  dispatcher: withMore(common('dispatcher'), {
    publish: [...readsStream(deliveryStream), deliveryTailSubject('*')],
    subscribe: [testDeliverySubject],
  }),
};
