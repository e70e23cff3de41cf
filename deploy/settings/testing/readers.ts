import { parseConfig } from '@causeway/runtime';
import { readConfig as readAccess } from '../../../services/access/config.ts';
import { agentsConfig } from '../../../services/agents/config.ts';
import { crmConfig } from '../../../services/crm/config.ts';
import { readConfig as readDispatcher } from '../../../services/dispatcher/config.ts';
import { gatewayConfig } from '../../../services/gateway/config.ts';
import { webhooksConfig } from '../../../services/webhooks/config.ts';
import { migrateConfig } from '../../migrate/config.ts';

type Reader = (env: NodeJS.ProcessEnv) => Readonly<Record<string, unknown>>;

export const readers: Readonly<Record<string, Reader>> = {
  access: readAccess,
  agents: (env) => parseConfig(agentsConfig, env),
  crm: (env) => parseConfig(crmConfig, env),
  dispatcher: readDispatcher,
  gateway: (env) => parseConfig(gatewayConfig, env),
  webhooks: (env) => parseConfig(webhooksConfig, env),
  migrate: (env) => parseConfig(migrateConfig, env),
};

export const variablesOf = (reader: Reader): ReadonlySet<string> => {
  const seen = new Set<string>();
  const watched = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => {
        if (typeof name === 'string') seen.add(name);
        return undefined;
      },
    },
  );
  try {
    reader(watched);
  } catch {
    // A required setting is missing; by then every variable has been read.
  }
  return seen;
};

export const required: Readonly<NodeJS.ProcessEnv> = {
  INTERFACE_URL: 'http://127.0.0.1:8081',
  MYSQL_URL: 'mysql://user:password@host:3306/causeway',
  PORTAL_SECRET_KEYS: `one:${Buffer.alloc(32, 1).toString('base64')}`,
  WEBHOOKS_SECRET_KEYS: `one:${Buffer.alloc(32, 2).toString('base64')}`,
};
