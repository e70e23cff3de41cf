import { connectBus } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { SetupError } from './setup-error.ts';

/** Checks that the server of MYSQL_URL accepts us. @throws SetupError if it does not */
export const requireMysql = async (url: string): Promise<void> => {
  try {
    const server = new URL(url);
    // The first migration may still have to create the database.
    server.pathname = '/';
    const connection = await createConnection({ uri: server.href, connectTimeout: 5000 });
    await connection.end();
  } catch (error) {
    throw refused('MYSQL_URL', 'MySQL', error);
  }
};

/** Checks that the server of NATS_URL accepts us. @throws SetupError if it does not */
export const requireNats = async (url: string): Promise<void> => {
  try {
    const bus = await connectBus({ url, name: 'operator' });
    await bus.close();
  } catch (error) {
    throw refused('NATS_URL', 'NATS', error);
  }
};

const refused = (variable: string, server: string, error: unknown): SetupError =>
  new SetupError(
    `The ${server} that ${variable} names did not accept the connection (${(error as Error).message}): ` +
      `start it, correct ${variable}, or unset it to have a server started here.`,
  );
