import { randomBytes } from 'node:crypto';
import { type TestCallers, testCallers } from '@causeway/identity/testing';
import type { Actor, Role } from '@causeway/proto';
import {
  type Bus,
  connectBus,
  createLog,
  createOnce,
  type Database,
  type KeyRing,
  parseKeyRing,
  sealedWithRing,
} from '@causeway/runtime';
import {
  cleanUp,
  type TestDatabase,
  type TestNats,
  testDatabase,
  testLane,
  testNats,
} from '@causeway/runtime/testing';
import { type StartedCommands, startCommands } from '../../dispatcher/testing/start-commands.ts';
import { defaultQuotas, type WebhooksContext } from '../context.ts';
import { openCursors } from '../cursors.ts';
import { createWebhooks, type WebhooksOptions } from '../service.ts';
import { startChallenges } from '../subscriptions/verification.ts';
import { type Tables, tenantTables } from '../tables.ts';

export interface BootedWebhooks {
  readonly db: Database<Tables>;
  /** The caller's connection; the service's own user may do everything here. */
  readonly bus: Bus;
  readonly database: TestDatabase;
  readonly nats: TestNats;
  readonly callers: TestCallers;
  readonly keyRing: KeyRing;
  /** The dispatchers that carry out commands, one per replica of the service. */
  readonly dispatchers: readonly StartedCommands[];
  readonly context: WebhooksContext;
  ask(operation: string, companyId: number, asked?: Asking): Promise<Asked>;
}

export interface Asking {
  /** The body as JSON, or as text if it is to be malformed. */
  readonly body?: unknown;
  readonly query?: string | Readonly<Record<string, string>>;
  readonly params?: readonly (string | number)[];
  readonly budgetMs?: number;
  readonly role?: Role;
  /** Of the API key; 1 by default. */
  readonly keyId?: number;
}

export interface Asked {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it whole.
  readonly body: any;
}

/** The service writes the audit log of access and reads the event log of crm. */
export const webhooksMigrations = ['access', 'crm', 'webhooks'].map((name) => ({
  name,
  folder: new URL(`../../${name}/migrations`, import.meta.url).pathname,
}));

/** A key ring with random keys; the first encrypts. */
export const makeKeyRing = (...names: readonly string[]): KeyRing =>
  parseKeyRing(names.map((name) => `${name}:${randomBytes(32).toString('base64')}`).join(','));

/**
 * @param options of each replica of the service. Beside each one, a dispatcher carries out its commands, without
 * attempts; `commands: false` leaves them to no one. `database` makes it use the database of another one, with its own
 * NATS.
 */
export const bootWebhooks = async ({
  services = 1,
  commands = true,
  database: given,
  ...options
}: Partial<WebhooksOptions> & {
  readonly services?: number;
  readonly commands?: boolean;
  readonly database?: TestDatabase;
} = {}): Promise<BootedWebhooks> => {
  const [database, nats] = await Promise.all([
    given ?? testDatabase({ folders: webhooksMigrations }),
    testNats(),
  ]);
  const { log } = createLog({ name: 'webhooks', instance: 'test', level: 'silent' });
  const db = database.connect<Tables>({ tenantTables });
  const bus = await connectBus({ url: nats.url, name: 'test' });
  cleanUp(() => bus.close());
  const callers = await testCallers(bus);
  const keyRing = options.keyRing ?? makeKeyRing('test');
  const dispatchers: StartedCommands[] = [];
  for (let at = 0; at < services; at++) {
    const service = await createWebhooks({
      bus,
      db: database.connect<Tables>({ tenantTables }),
      log,
      ...options,
      keyRing,
    });
    cleanUp(() => service.drain());
    if (commands)
      dispatchers.push(
        await startCommands(bus, database, {
          waitingQuota: options.quotas?.waitingDeliveries,
          now: options.now,
        }),
      );
  }
  const send = testLane(bus, 'webhooks');

  const secrets = { db, keyRing, random: randomBytes };
  const now = () => new Date();
  const challenges = startChallenges({ ...secrets, bus, log, now });
  cleanUp(() => challenges.drain());
  const targets = options.targets ?? { allowHttp: false, allowPrivate: false };
  return {
    context: {
      ...secrets,
      bus,
      log,
      targets,
      quotas: options.quotas ?? defaultQuotas,
      cursors: openCursors(secrets),
      challenges,
      once: createOnce({ db, now, seal: sealedWithRing(secrets.keyRing) }),
      now,
    },
    db,
    bus,
    dispatchers,
    database,
    nats,
    callers,
    keyRing,
    ask: async (
      operation,
      companyId,
      { body, query = '', params = [], budgetMs = 60_000, role, keyId = 1 } = {},
    ) => {
      const caller = role
        ? { actor: actorOf(callers, companyId, role) }
        : { key: await callers.key(companyId, keyId === 1 ? {} : { id: keyId }) };
      const answer = await send({
        operation,
        tenant: companyId,
        caller: keyId,
        budgetMs,
        params: params.map(String),
        query: typeof query === 'string' ? query : new URLSearchParams(query).toString(),
        body: bytesOf(body),
        ...caller,
      });
      const text = answer.body.toString();
      return { status: answer.status, text, body: text === '' ? undefined : JSON.parse(text) };
    },
  };
};

const actorOf = (callers: TestCallers, companyId: number, role: Role): Actor => {
  const user = { id: 1, sessionId: 1, email: `${role}@example.com`, name: `The ${role}`, role };
  return { user, address: '203.0.113.7', userAgent: 'test', proof: callers.session(companyId, user) };
};

const bytesOf = (body: unknown): Uint8Array =>
  body === undefined ? new Uint8Array() : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
