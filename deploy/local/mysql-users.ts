import { parseMysqlUrl } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { applyGrants, applyRevokes, makeUsers, userOf } from '../mysql/grants.ts';
import type { MysqlService } from '../mysql/privileges.ts';
import type { Secrets } from './secrets.ts';

/** Each service has its own MySQL user here too, with the same privileges as in production. */
interface MysqlUsers {
  /** Creates the users. Call it after the migrations, with an administrator's URL. */
  make(adminUrl: string): Promise<void>;
  urlFor(service: MysqlService, adminUrl: string): string;
}

export const mysqlUsers = (root: string, secrets: Secrets): MysqlUsers => {
  const passwordOf = (service: MysqlService): string => secrets(`mysql ${service}`);
  return {
    make: async (adminUrl) => {
      const connection = await createConnection(parseMysqlUrl(adminUrl));
      try {
        await makeUsers(connection, passwordOf);
      } finally {
        await connection.end();
      }
      await applyGrants(adminUrl, root);
      await applyRevokes(adminUrl, root);
    },
    urlFor: (service, adminUrl) => {
      const url = new URL(adminUrl);
      url.username = userOf(service);
      url.password = passwordOf(service);
      return url.href;
    },
  };
};
