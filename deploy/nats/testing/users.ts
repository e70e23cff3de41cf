import { createLog } from '@causeway/runtime';
import { cleanUp, testNats } from '@causeway/runtime/testing';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsUsers, renderNatsConfig } from '../permissions.ts';

export const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

/** A server with the users of a deployment. */
export const natsWithUsers = async () => {
  const users = natsUsers((name) => `secret of ${name}`);
  const { authorization } = JSON.parse(
    renderNatsConfig({ port: 0, monitorPort: 0, storeDir: '', portsDir: '', users }),
  );
  const { url } = await testNats({ authorization });
  return {
    url,
    urlOf: (user: string): string =>
      url.replace('nats://', `nats://${user}:${encodeURIComponent(`secret of nats ${user}`)}@`),
    connectAs: async (user: string): Promise<NatsConnection> => {
      const connection = await connect({
        servers: url.replace('nats://', ''),
        user,
        pass: `secret of nats ${user}`,
        inboxPrefix: `_INBOX_${user}`,
        reconnect: false,
      });
      cleanUp(() => connection.close());
      return connection;
    },
  };
};
