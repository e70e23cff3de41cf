import {
  deliveryConsumer,
  deliveryStream,
  deliveryTailSubject,
  eventStream,
  keyBucket,
  keyRevokedSubject,
  laneSubject,
  replyPrefix,
  sessionsEndedSubject,
} from '@causeway/proto';
import { cleanUp, testNats } from '@causeway/runtime/testing';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { renderNatsConfig } from './config.ts';
import { natsUsers } from './permissions.ts';

const users = natsUsers((name) => `secret of ${name}`);
// The server takes the very section that the cluster's configuration has.
const { authorization } = JSON.parse(
  renderNatsConfig({ port: 0, monitorPort: 0, storeDir: '', portsDir: '', pidFile: '', users }),
);
const nats = await testNats({ authorization });

const connectAs = async (user: string): Promise<NatsConnection> => {
  const connection = await connect({
    servers: nats.url.replace('nats://', ''),
    user,
    pass: `secret of nats ${user}`,
    inboxPrefix: `_INBOX_${user}`,
    reconnect: false,
  });
  cleanUp(() => connection.close());
  return connection;
};

/** What the server says to a publication: undefined when it lets it pass. */
const publish = async (user: string, subject: string): Promise<string | undefined> => {
  const connection = await connectAs(user);
  const refused = firstError(connection);
  connection.publish(subject, 'x');
  await connection.flush();
  return Promise.race([refused, connection.flush().then(() => undefined)]);
};

const subscribe = async (user: string, subject: string): Promise<string | undefined> => {
  const connection = await connectAs(user);
  const refused = firstError(connection);
  connection.subscribe(subject, { callback: () => {} });
  await connection.flush();
  return Promise.race([refused, connection.flush().then(() => undefined)]);
};

const firstError = async (connection: NatsConnection): Promise<string | undefined> => {
  for await (const status of connection.status()) {
    if (status.type === 'error') return status.error.message;
  }
  return undefined;
};

test.each([
  ['gateway', laneSubject('crm')],
  ['crm', `${replyPrefix('gateway')}.gateway-1.crm.7`],
  ['access', keyRevokedSubject],
  ['access', `$KV.${keyBucket}.1`],
  ['operator', '$SRV.PING'],
  ['gateway', laneSubject('access')],
  ['access', sessionsEndedSubject],
  ['dispatcher', deliveryTailSubject(1001)],
])('%s may publish to %s', async (user, subject) => {
  expect(await publish(user, subject)).toBeUndefined();
});

test.each([
  ['crm', laneSubject('operator')],
  ['gateway', laneSubject('operator')],
  ['gateway', laneSubject('operator-webhooks')],
  ['access', laneSubject('operator-webhooks')],
  ['crm', `$KV.${keyBucket}.1`],
  ['crm', keyRevokedSubject],
  ['gateway', `$KV.${keyBucket}.1`],
  ['gateway', `$JS.API.STREAM.DELETE.KV_${keyBucket}`],
  ['gateway', `$JS.API.STREAM.PURGE.KV_${keyBucket}`],
  ['dispatcher', laneSubject('crm')],
  ['crm', `$JS.API.STREAM.CREATE.${eventStream}`],
  ['webhooks', `$JS.API.CONSUMER.MSG.NEXT.${deliveryStream}.${deliveryConsumer}`],
  ['webhooks', laneSubject('operator')],
  ['crm', laneSubject('access')],
  ['gateway', sessionsEndedSubject],
  ['gateway', deliveryTailSubject(1001)],
])('%s may not publish to %s', async (user, subject) => {
  expect(await publish(user, subject)).toMatch(/permissions violation/i);
});

test.each([
  ['crm', laneSubject('operator')],
  ['crm', laneSubject('operator-webhooks')],
  ['webhooks', laneSubject('operator')],
  ['crm', '>'],
  ['gateway', laneSubject('crm')],
  ['gateway', laneSubject('access')],
  ['crm', deliveryTailSubject('*')],
  ['webhooks', `${replyPrefix('gateway')}.>`],
  ['dispatcher', '_INBOX_access.>'],
])('%s may not listen to %s', async (user, subject) => {
  expect(await subscribe(user, subject)).toMatch(/permissions violation/i);
});

test('a wrong password is not let in', async () => {
  const attempt = connect({
    servers: nats.url.replace('nats://', ''),
    user: 'crm',
    pass: 'guess',
    reconnect: false,
  });
  await expect(attempt).rejects.toThrow(/authorization/i);
});
