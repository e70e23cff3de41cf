import {
  beatSubject,
  deliveryCommandSubject,
  eventConsumer,
  eventStream,
  eventSubject,
  ingestSubject,
  keyBucket,
  keyRevokedSubject,
  laneSubject,
  limitEntrySubject,
  limitLogStream,
  replicaSubject,
  replyPrefix,
  requestsLoggedSubject,
  testDeliverySubject,
  writtenSubject,
} from '@causeway/proto';
import {
  connectBus,
  createLaneClient,
  each,
  json,
  type LaneCall,
  serveOperationLane,
} from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { encodeCall, joinFrame } from '../../services/runtime/lanes/frame.ts';
import { log, natsWithUsers } from './testing/users.ts';

const { url, urlOf, connectAs } = await natsWithUsers();

const refusal = async (
  user: string,
  act: (connection: NatsConnection) => void,
): Promise<string | undefined> => {
  const connection = await connectAs(user);
  const refused = firstError(connection);
  act(connection);
  await connection.flush();
  return Promise.race([refused, connection.flush().then(() => undefined)]);
};
const publish = (user: string, subject: string) =>
  refusal(user, (connection) => connection.publish(subject, 'x'));

const firstError = async (connection: NatsConnection): Promise<string | undefined> => {
  for await (const status of connection.status()) {
    if (status.type === 'error') return status.error.message;
  }
  return undefined;
};

// Subjects that have a handler are in attacks.integration.test.ts, for every user.
test.each([
  ['crm', `${replyPrefix('gateway')}.gateway-1.crm.0`],
  ['webhooks', `${replyPrefix('gateway')}.gateway-1.webhooks.0`],
  ['webhooks', `${replyPrefix('operator')}.cli-1.0`],
  ['access', `${replyPrefix('operator')}.cli-1.0`],
  ['dispatcher', `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.${eventConsumer}`],
  ['gateway', replicaSubject('crm', 'a')],
  ['crm', beatSubject('crm', 'a')],
  ['webhooks', beatSubject('operator-webhooks', 'a')],
])('%s may publish to %s', async (user, subject) => {
  expect(await publish(user, subject)).toBeUndefined();
});

test.each([
  ['crm', beatSubject('access', 'a')],
  ['gateway', beatSubject('crm', 'a')],
  ['gateway', replicaSubject('operator', 'a')],
  ['webhooks', replicaSubject('crm', 'a')],
  ['gateway', `$JS.API.STREAM.DELETE.KV_${keyBucket}`],
  ['gateway', `$JS.API.STREAM.PURGE.KV_${keyBucket}`],
  ['crm', `$JS.API.STREAM.CREATE.${eventStream}`],
  ['webhooks', `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.${eventConsumer}`],
  ['gateway', writtenSubject],
  ['webhooks', writtenSubject],
  // Answers in the place of another service, or to a request that was never made.
  ['crm', `${replyPrefix('gateway')}.gateway-1.access.0`],
  ['crm', `${replyPrefix('gateway')}.gateway-1.webhooks.0`],
  ['webhooks', `${replyPrefix('gateway')}.gateway-1.crm.0`],
  ['access', `${replyPrefix('gateway')}.gateway-1.webhooks.0`],
  ['gateway', `${replyPrefix('gateway')}.gateway-2.crm.0`],
  ['gateway', `${replyPrefix('operator')}.cli-1.0`],
  ['dispatcher', `${replyPrefix('gateway')}.gateway-1.webhooks.0`],
  ['dispatcher', eventSubject(1001, 'client.created')],
  ['dispatcher', `$JS.API.STREAM.PURGE.${eventStream}`],
  ['dispatcher', `$JS.API.CONSUMER.CREATE.${eventStream}.mine`],
  ['webhooks', `$JS.API.STREAM.CREATE.${eventStream}`],
  ['webhooks', `$JS.API.CONSUMER.CREATE.${eventStream}.mine`],
  ['webhooks', `$JS.API.STREAM.PURGE.${eventStream}`],
  ['webhooks', eventSubject(1001, 'client.created')],
  ['webhooks', limitEntrySubject(1, 'store')],
  ['crm', limitEntrySubject(1, 'store')],
  ['crm', `$JS.API.CONSUMER.CREATE.${eventStream}.mine`],
  ['crm', `$JS.API.STREAM.DELETE.${eventStream}`],
  ['access', limitEntrySubject(1, 'store')],
  ['access', eventSubject(1001, 'client.created')],
  ['access', `$JS.API.STREAM.DELETE.KV_${keyBucket}`],
  ['access', `$JS.API.CONSUMER.CREATE.${limitLogStream(1)}.mine`],
  ['gateway', `$JS.API.STREAM.CREATE.KV_${keyBucket}`],
  ['gateway', `$JS.API.STREAM.UPDATE.${limitLogStream(1)}`],
  ['gateway', `$JS.API.CONSUMER.CREATE.KV_gateways.mine`],
  // A stored message is delivered to any subject that the requester names.
  ['gateway', '$JS.API.DIRECT.GET.KV_gateways'],
  ['gateway', `$JS.API.DIRECT.GET.${limitLogStream(1)}`],
  ['gateway', `$JS.API.CONSUMER.CREATE.${eventStream}.mine`],
  ['gateway', eventSubject(1001, 'client.created')],
])('%s may not publish to %s', async (user, subject) => {
  expect(await publish(user, subject)).toMatch(/permissions violation/i);
});

test.each([
  ['crm', replicaSubject('access', '*')],
  ['gateway', replicaSubject('crm', '*')],
  ['crm', laneSubject('operator')],
  ['crm', laneSubject('operator-webhooks')],
  ['webhooks', laneSubject('operator')],
  ['crm', '>'],
  ['gateway', laneSubject('crm')],
  ['gateway', laneSubject('access')],
  ['webhooks', `${replyPrefix('gateway')}.>`],
  ['dispatcher', '_INBOX_access.>'],
  ['dispatcher', eventSubject('*', '*.*')],
  ['dispatcher', keyRevokedSubject],
  ['dispatcher', laneSubject('webhooks')],
  ['crm', testDeliverySubject],
  ['crm', requestsLoggedSubject],
  ['crm', `$KV.${keyBucket}.>`],
  ['crm', `${replyPrefix('operator')}.>`],
  ['crm', '$JS.API.>'],
  ['webhooks', ingestSubject],
  ['webhooks', testDeliverySubject],
  ['webhooks', deliveryCommandSubject],
  ['access', testDeliverySubject],
  ['access', eventSubject('*', '*.*')],
  ['access', laneSubject('operator-webhooks')],
  ['access', `${replyPrefix('gateway')}.>`],
  ['gateway', requestsLoggedSubject],
  ['gateway', ingestSubject],
  ['gateway', eventSubject('*', '*.*')],
  ['gateway', laneSubject('operator')],
  ['gateway', `${replyPrefix('operator')}.>`],
  ['gateway', '_INBOX_operator.>'],
])('%s may not listen to %s', async (user, subject) => {
  expect(
    await refusal(user, (connection) => void connection.subscribe(subject, { callback: () => {} })),
  ).toMatch(/permissions violation/i);
});

test('a stream message that is delivered to a lane is not taken as a request', async () => {
  const bus = await connectBus({ url: urlOf('access'), name: 'access' });
  cleanUp(() => bus.close());
  const executed: string[] = [];
  const handlers = {
    createCompany: each(async ({ requestId }) => {
      executed.push(requestId);
      return json(201, {});
    }),
  };
  const server = await serveOperationLane({ bus, lane: 'operator', handlers, log });
  cleanUp(() => server.drain());
  const heard: string[] = [];
  const operator = await connectAs('operator');
  operator.subscribe(laneSubject('operator'), {
    callback: (_, message) => void heard.push(message.reply ?? ''),
  });
  await operator.flush();

  // From users who may create streams and consumers: attacks.integration.test.ts covers gateways.
  const maker = await connectAs('operator');
  const frame = joinFrame([encodeCall(1, callOf('from a stream'))]);
  const manager = await jetstreamManager(maker, { checkAPI: false });
  await manager.streams.add({ name: limitLogStream(1), subjects: [limitEntrySubject(1, '*')] });
  const gateway = await connectAs('gateway');
  gateway.publish(limitEntrySubject(1, 'store'), frame);
  await manager.consumers.add(limitLogStream(1), {
    name: 'thief',
    deliver_subject: laneSubject('operator'),
    ack_policy: AckPolicy.Explicit,
  });
  await expect.poll(() => heard).not.toEqual([]);
  expect(heard[0]).toMatch(/^\$JS\.ACK\./);

  // The same frame from an allowed sender: the previous one has been handled by then.
  const asker = await connectBus({ url: urlOf('operator'), name: 'operator' });
  cleanUp(() => asker.close());
  const lane = createLaneClient({
    bus: asker,
    lane: 'operator',
    subject: laneSubject('operator'),
    replySubject: `${replyPrefix('operator')}.cli-1`,
  });
  cleanUp(() => lane.close());
  expect((await lane.request(callOf('from the operator'))).status).toBe(201);
  expect(executed).toEqual(['from the operator']);
});

const callOf = (requestId: string): LaneCall => ({
  operation: 'createCompany',
  tenant: 0,
  caller: 0,
  requestId,
  traceparent: '',
  budgetMs: 10_000,
  params: [],
  query: '',
  body: Buffer.from('{}'),
});

test('a wrong password is refused', async () => {
  const attempt = connect({
    servers: url.replace('nats://', ''),
    user: 'crm',
    pass: 'guess',
    reconnect: false,
  });
  await expect(attempt).rejects.toThrow(/authorization/i);
});
