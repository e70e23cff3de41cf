import { connectBus } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { Unprovided } from './unprovided.ts';

/** Makes sure that the server of MYSQL_URL lets us in. @throws Unprovided when it does not. */
export const answersMysql = async (url: string): Promise<void> => {
  try {
    const server = new URL(url);
    // The database may be made by the first migration.
    server.pathname = '/';
    const connection = await createConnection({ uri: server.href, connectTimeout: 5000 });
    await connection.end();
  } catch (error) {
    throw refused('MYSQL_URL', 'MySQL', error);
  }
};

/** Makes sure that the server of NATS_URL lets us in. @throws Unprovided when it does not. */
export const answersNats = async (url: string): Promise<void> => {
  try {
    const bus = await connectBus({ url, name: 'operator' });
    await bus.close();
  } catch (error) {
    throw refused('NATS_URL', 'NATS', error);
  }
};

const refused = (variable: string, server: string, error: unknown): Unprovided =>
  new Unprovided(
    `The ${server} that ${variable} names does not let us in (${(error as Error).message}): ` +
      `start it, correct ${variable}, or unset it to have a server started here.`,
  );
