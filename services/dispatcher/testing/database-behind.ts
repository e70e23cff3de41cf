import { connectDatabase, type Database, type DatabaseOptions } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { type Tables, tenantTables } from '../tables.ts';

export const databaseBehind = (
  { port }: { readonly port: number },
  { url, poolSize }: Pick<DatabaseOptions, 'url' | 'poolSize'>,
): Database<Tables> => {
  const through = new URL(url);
  through.port = String(port);
  const db = connectDatabase<Tables>({ url: through.href, poolSize, tenantTables });
  cleanUp(() => db.close());
  return db;
};
