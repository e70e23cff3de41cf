import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLimitStreams, followKeyTable } from '@causeway/identity';
import {
  deliveryCommandSubject,
  deliveryHealthSubject,
  eventConsumer,
  eventStream,
  eventSubject,
  gatewayBucket,
  gatewayBucketSettings,
  ingestSubject,
  keyBucket,
  keyRevokedSubject,
  type LaneName,
  laneSubject,
  limitCountSubject,
  limitEntrySubject,
  limitLogStream,
  metaEntryName,
  replyPrefix,
  requestsLoggedSubject,
  testDeliverySubject,
} from '@causeway/proto';
import {
  type Bus,
  connectBus,
  each,
  isRequest,
  json,
  readNotice,
  serveOperationLane,
} from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { beforeEach, expect, test } from 'vitest';
import { createStream } from '../../services/dispatcher/intake/stream.ts';
import { encodeCall, joinFrame } from '../../services/runtime/lanes/frame.ts';
import { log, natsWithUsers } from './testing/users.ts';

// Every user tries to get a message accepted on every subject that has a handler, in every way that NATS
// offers.

const { urlOf, connectAs } = await natsWithUsers();
const busOf = async (user: string): Promise<Bus> => {
  const bus = await connectBus({ url: urlOf(user), name: user, log });
  cleanUp(() => bus.close());
  return bus;
};
const operator = await busOf('operator');
const manager = await jetstreamManager(operator.nc);
await createStream(operator, 1);
await ensureLimitStreams(operator.nc, []);
const keys = await new Kvm(operator.nc).create(keyBucket, { history: 1, allow_direct: false });
await new Kvm(operator.nc).create(gatewayBucket, gatewayBucketSettings);
await keys.put(metaEntryName, JSON.stringify({ ready: true }));

const forged = 'key.forged';
const forgedEntry = JSON.stringify({ version: 9, id: 1, companyId: 1001, scopes: ['admin'], active: true });
const table = followKeyTable({ bus: await busOf('crm'), log });
cleanUp(() => table.close());
await table.reload('start');

const isTold = (message: Msg): boolean => readNotice(message) !== undefined;

const heard = new Set<string>();

const lanes: Readonly<Record<LaneName, string>> = {
  crm: 'crm',
  webhooks: 'webhooks',
  access: 'access',
  operator: 'access',
  'operator-crm': 'crm',
  'operator-webhooks': 'webhooks',
};
const operation = 'attack';
for (const [lane, user] of Object.entries(lanes) as [LaneName, string][]) {
  const handlers = {
    [operation]: each(async () => {
      heard.add(laneSubject(lane));
      return json(200, {});
    }),
  };
  const server = await serveOperationLane({ bus: await busOf(user), lane, handlers, log });
  cleanUp(() => server.drain());
}

const listen = async (user: string, subject: string, accepts: (message: Msg) => boolean, answer?: string) => {
  const { nc } = await busOf(user);
  nc.subscribe(subject, {
    callback: (error, message) => {
      if (error || !accepts(message)) return;
      heard.add(subject);
      if (answer) message.respond(answer);
    },
  });
  await nc.flush();
};
const countSubject = limitCountSubject('epoch');
await listen('crm', ingestSubject, isRequest, '{"id":1}');
await listen('dispatcher', testDeliverySubject, isRequest, '{"error":"none"}');
await listen('dispatcher', deliveryCommandSubject, isRequest, '{}');
await listen('gateway', keyRevokedSubject, isRequest, '{}');
await listen('gateway', countSubject, isRequest, '[1]');
await listen('access', requestsLoggedSubject, isTold);
await listen('dispatcher', deliveryHealthSubject, isTold);

const entrySubject = `$KV.${keyBucket}.${forged}`;
const targets = [
  ...Object.keys(lanes).map((lane) => laneSubject(lane as LaneName)),
  ...[ingestSubject, testDeliverySubject, deliveryCommandSubject, keyRevokedSubject, countSubject],
  ...[requestsLoggedSubject, deliveryHealthSubject],
  entrySubject,
];
const streams = [limitLogStream(1), eventStream, `KV_${keyBucket}`, `KV_${gatewayBucket}`];
const stored = [
  limitEntrySubject(1, 'store'),
  eventSubject(1001, 'client.created'),
  `$KV.${gatewayBucket}.mine`,
];

const frame = joinFrame([
  encodeCall(1, {
    ...{ operation, tenant: 0, caller: 0, requestId: '', traceparent: '', budgetMs: 10_000 },
    ...{ params: [], query: '', body: Buffer.from('{}') },
  }),
]);
const words = [frame, Buffer.from('[]'), Buffer.from(forgedEntry)];

/** Does not wait for answers; the server refuses what is not allowed. */
const attack = async (nc: NatsConnection, user: string): Promise<void> => {
  const send = (subject: string, body: unknown, reply?: string): void =>
    nc.publish(subject, JSON.stringify(body), reply ? { reply } : {});
  for (const subject of stored) for (const word of words) nc.publish(subject, word);
  targets.forEach((target, at) => {
    // As a plain message, and as an answer to each kind of requester.
    const replies = [undefined, `_INBOX_${user}.x`, `${replyPrefix('gateway')}.x.1`];
    for (const word of words)
      for (const reply of [...replies, `${replyPrefix('operator')}.x.1`])
        nc.publish(target, word, reply ? { reply } : {});
    for (const asked of targets) for (const word of words) nc.publish(asked, word, { reply: target });
    for (const stream of streams) {
      const thief = `thief-${user}-${at}`;
      const consumer = { ack_policy: 'none', deliver_policy: 'all' };
      const makers: [string, object][] = [
        [thief, { name: thief }],
        [`${thief}.$KV.${keyBucket}.>`, { name: thief, filter_subject: `$KV.${keyBucket}.>` }],
        [eventConsumer, { durable_name: eventConsumer }],
      ];
      for (const [name, config] of makers)
        send(
          `$JS.API.CONSUMER.CREATE.${stream}.${name}`,
          { stream_name: stream, config: { ...consumer, ...config, deliver_subject: target } },
          `_INBOX_${user}.x`,
        );
      for (const name of [thief, eventConsumer])
        send(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, { batch: 9, no_wait: true }, target);
      for (const name of [stream, `EVIL_${at}`])
        for (const way of ['CREATE', 'UPDATE'])
          for (const config of [
            { subjects: [`evil.${at}`], republish: { src: `evil.${at}`, dest: target } },
            { subjects: stored, republish: { src: stored[0], dest: target } },
            { subjects: [target] },
            { mirror: { name: stream, external: { api: '$JS.API', deliver: target } } },
            { sources: [{ name: stream, subject_transforms: [{ src: stored[0], dest: target }] }] },
          ])
            send(`$JS.API.STREAM.${way}.${name}`, { name, ...config }, `_INBOX_${user}.x`);
      for (const seq of [1, 2, 3])
        for (const way of ['STREAM.MSG.GET', 'DIRECT.GET']) send(`$JS.API.${way}.${stream}`, { seq }, target);
      send(`$JS.API.STREAM.INFO.${stream}`, {}, target);
    }
  });
  await nc.flush();
  // The consumers must exist before the messages that they would deliver.
  await sleep(500);
  for (const subject of [...stored, ...targets.map((_, at) => `evil.${at}`)])
    for (const word of words) nc.publish(subject, word);
  await nc.flush();
};

beforeEach(async () => {
  heard.clear();
  for (const stream of [limitLogStream(1), eventStream]) await manager.streams.purge(stream);
});

test.each<[user: string, subjects: readonly string[]]>([
  [
    'gateway',
    [laneSubject('crm'), laneSubject('webhooks'), laneSubject('access'), countSubject, requestsLoggedSubject],
  ],
  ['webhooks', [ingestSubject, testDeliverySubject, deliveryCommandSubject]],
  ['dispatcher', [deliveryHealthSubject]],
  ['crm', []],
  ['access', [testDeliverySubject, keyRevokedSubject, entrySubject]],
])(
  'in every way that NATS offers, %s reaches only its own subjects',
  async (user, subjects) => {
    const connection = await connectAs(user);
    await attack(connection, user);
    // JetStream delivers later, as late as a message of the operator through a consumer.
    await deliveredByJetStream();
    const hearAll = () => {
      // The bucket keeps one value of an entry, and answers of JetStream have replaced the forged one since. A slow watch
      // has not seen it.
      connection.publish(entrySubject, forgedEntry);
      if (table.key(forged)) heard.add(entrySubject);
      return [...heard].sort();
    };
    await expect.poll(hearAll).toEqual([...subjects].sort());
  },
  120_000,
);

/** Resolves when a message has passed through a stream and a push consumer, twice. */
const deliveredByJetStream = async (): Promise<void> => {
  for (let round = 0; round < 2; round++) {
    const name = `control-${Math.random()}`.replace('.', '');
    let delivered = 0;
    const subscription = operator.nc.subscribe(name, { callback: () => void delivered++ });
    await manager.consumers.add(limitLogStream(1), { name, deliver_subject: name });
    const publishControl = () => {
      operator.nc.publish(limitEntrySubject(1, 'other'), 'control');
      return delivered;
    };
    await expect.poll(publishControl, { interval: 300 }).toBeGreaterThan(0);
    subscription.unsubscribe();
    await manager.consumers.delete(limitLogStream(1), name);
  }
};

test('a push consumer does reach them for a user who may create one, so the refusals prove something', async () => {
  const seen = new Set<string>();
  for (const target of targets)
    operator.nc.subscribe(target, {
      callback: (_, { reply }) => void (reply?.startsWith('$JS.ACK') && seen.add(target)),
    });
  await operator.nc.flush();
  const { nc } = await busOf('operator');
  await attack(nc, 'operator');
  await expect.poll(() => seen.size).toBeGreaterThan(targets.length / 2);
});
