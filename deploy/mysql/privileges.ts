import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationFolders } from '../migrate/config.ts';

export const mysqlServices = ['access', 'crm', 'webhooks', 'dispatcher'] as const;
export type MysqlService = (typeof mysqlServices)[number];

type Privilege = (typeof everyPrivilege)[number];
export const everyPrivilege = [
  ...(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'ALTER', 'INDEX'] as const),
  ...(['REFERENCES', 'TRIGGER', 'CREATE VIEW', 'SHOW VIEW'] as const),
] as const;

const read = ['SELECT'] as const;
const append = ['SELECT', 'INSERT'] as const;
const change = ['SELECT', 'UPDATE'] as const;
const everyRow = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
/** MySQL has no narrower privilege for daily partitions. */
const days = ['ALTER', 'DROP'] as const;

type Tables = Readonly<Record<string, readonly Privilege[]>>;

/** The rule: a service may do everything with the tables of its own migrations, and nothing with others. */
export const exceptions: Readonly<Record<MysqlService, Tables>> = {
  access: {
    idempotency_keys: ['SELECT', 'INSERT', 'DELETE'],
    audit_log: [...append, 'DELETE'],
    closed_companies: everyRow,
    request_log: [...append, ...days],
    notice_channels: read,
  },
  crm: {
    lookup_versions: ['SELECT', 'DELETE'],
    closed_companies: change,
    clients_seq: change,
    client_notes_seq: change,
    employees_seq: change,
    events_seq: change,
    events: [...append, 'UPDATE'],
    idempotency_keys: ['SELECT', 'INSERT', 'DELETE'],
    audit_log: ['INSERT'],
    delivery_attempts: change,
  },
  webhooks: {
    idempotency_keys: ['SELECT', 'INSERT', 'DELETE'],
    audit_log: append,
    events: [...read, ...days],
    event_sequences: ['SELECT', 'INSERT', 'UPDATE'],
    event_outbox: read,
    incidents: ['SELECT', 'DELETE'],
    deliveries: read,
    delivery_queues: ['SELECT', 'DELETE'],
    delivery_attempts: read,
    delivery_minutes: read,
    closed_companies: ['SELECT', 'UPDATE', 'DELETE'],
    key_revocations: ['SELECT', 'DELETE'],
    member_endings: ['SELECT', 'UPDATE', 'DELETE'],
    notices: append,
    notice_channels: everyRow,
    dispatchers: [],
  },
  dispatcher: {
    audit_log: ['INSERT'],
    events: read,
    event_sequences: ['SELECT', 'INSERT', 'UPDATE'],
    event_outbox: ['SELECT', 'UPDATE', 'DELETE'],
    subscriptions: change,
    subscription_changes: ['SELECT', 'UPDATE', 'DELETE'],
    deliveries: ['SELECT', 'INSERT', 'UPDATE', ...days],
    delivery_queues: everyRow,
    delivery_attempts: ['SELECT', 'INSERT', 'UPDATE', ...days],
    delivery_minutes: ['SELECT', 'INSERT', 'UPDATE', ...days],
    replays: change,
    incidents: everyRow,
    webhook_companies: ['SELECT', 'INSERT', 'UPDATE'],
    missed_events: ['SELECT', 'INSERT', 'UPDATE'],
    notices: append,
    notice_channels: change,
    dispatchers: everyRow,
  },
};

export const tablesOf = (root: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    migrationFolders(root).map(({ name, folder }) => {
      const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
      const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
      return [name, [...text.matchAll(/^CREATE TABLE (\w+)/gm)].map((match) => match[1]!)];
    }),
  );

export const privileges = (root: string): Readonly<Record<MysqlService, Tables>> => {
  const tables = tablesOf(root);
  const of = (service: MysqlService): Tables =>
    Object.fromEntries(
      [...tables].flatMap(([owner, names]) =>
        names.map((name) => [name, exceptions[service][name] ?? (owner === service ? everyRow : [])]),
      ),
    );
  return { access: of('access'), crm: of('crm'), webhooks: of('webhooks'), dispatcher: of('dispatcher') };
};
