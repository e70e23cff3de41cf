import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type Actor,
  deviceHeader,
  type GatewayAnswer,
  type KeyTableChange,
  keyBucket,
  keyRevokedSubject,
  type LoggedRequest,
  type MemberOperationId,
  type OperatorOperationId,
  type ResolvedSession,
  type Role,
  resolveSessionOperation,
  sessionTokenHeader,
} from '@causeway/proto';
import { type Bus, connectBus, createLog, type LaneAnswer, parseKeyRing } from '@causeway/runtime';
import { cleanUp, type TestNats, testDatabase, testLane, testNats } from '@causeway/runtime/testing';
import { type KV, Kvm } from '@nats-io/kv';
import type { PortalSettings } from '../context.ts';
import { openGatewayBucket } from '../key-table/bucket.ts';
import { type AccessTables, tenantTables } from '../schema.ts';
import { type AccessOptions, createAccess } from '../service.ts';

const folders = ['access', 'crm', 'webhooks'].map((name) => ({
  name,
  folder: join(import.meta.dirname, '../..', name, 'migrations'),
}));
export const testPortal: PortalSettings = {
  keyRing: parseKeyRing(`test:${randomBytes(32).toString('base64')}`),
  idleTimeoutMs: 8 * 3_600_000,
  sessionTimeoutMs: 24 * 3_600_000,
  proofTimeoutMs: 600_000,
  passkeys: { origin: 'http://localhost:8080', host: 'localhost' },
  limits: { read: 60, write: 100, admin: 200, lookup: null },
  features: { allowHttp: false, allowPrivate: false },
  baseUrl: null,
  retentionDays: 30,
  auditDays: null,
  retryForMs: 55_625_000,
};
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

/** No service runs yet. @param given a server to use in place of a new one. */
export const testWorld = async (given?: TestNats, { withDays = true } = {}) => {
  const database = await testDatabase({ folders, withDays });
  const nats = given ?? (await testNats());
  const openDb = () => database.connect<AccessTables>({ tenantTables });
  const openBus = (name: string): Promise<Bus> => busOf(nats, name);
  return {
    database,
    nats,
    openDb,
    openBus,
    startAccess: async (options: Partial<AccessOptions> = {}) => {
      const bus = await openBus('access');
      const service = await createAccess({
        bus,
        db: openDb(),
        log,
        keyPrefix: 'crm',
        keyQuota: 200,
        portal: testPortal,
        replicas: 1,
        ...options,
      });
      cleanUp(() => service.drain());
      return { ...service, bus };
    },
    openTable: async (): Promise<KV> => new Kvm((await openBus('observer')).nc).open(keyBucket),
  };
};

const busOf = async ({ url }: TestNats, name: string): Promise<Bus> => {
  const bus = await connectBus({ url, name });
  cleanUp(() => bus.close());
  return bus;
};

let requestsLogged = 0;
/** What a gateway reports of a request. */
export const loggedRequest = (
  companyId: number,
  keyId: number,
  utcMs: number,
  more: { readonly status?: number; readonly bucket?: LoggedRequest[12]; readonly requests?: number } = {},
): LoggedRequest => {
  const { status = 200, bucket = 'read', requests = 1 } = more;
  const request = ['getLead', 'GET', '17', status, 5, 'a-1', '203.0.113.7'] as const;
  return [companyId, keyId, utcMs, ++requestsLogged, ...request, 0, bucket, requests];
};

export const operatorOf = (bus: Bus) => {
  const send = testLane(bus, 'operator', 'operator');
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  return async (operation: OperatorOperationId, body: unknown): Promise<{ status: number; body: any }> => {
    const bytes = Buffer.from(JSON.stringify(body));
    const answer = await send({ operation, budgetMs: 120_000, body: bytes });
    return { status: answer.status, body: JSON.parse(answer.body.toString()) };
  };
};

export const portalLaneOf = (bus: Bus) => {
  const send = testLane(bus, 'access');
  return (
    operation: MemberOperationId | typeof resolveSessionOperation,
    { tenant = 0, actor, body, params = [], query = '', ...named }: PortalRequest = {},
  ): Promise<LaneAnswer> =>
    send({
      operation,
      tenant,
      caller: actor?.user?.id ?? 0,
      budgetMs: 60_000,
      params,
      query,
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      ...(actor && { actor }),
      ...named,
    });
};

interface PortalRequest {
  readonly callId?: string;
  readonly idempotencyKey?: string;
  readonly tenant?: number;
  readonly actor?: Actor;
  readonly body?: unknown;
  readonly params?: readonly string[];
  readonly query?: string;
}

export const browserOf = (send: ReturnType<typeof portalLaneOf>, address = '203.0.113.7') => {
  let token = '';
  let device = '';
  const browser = {
    token: () => token,
    setToken: (value: string) => {
      token = value;
    },
    ask: async (
      operation: MemberOperationId,
      body?: unknown,
      params: readonly string[] = [],
      query = '',
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
    ): Promise<any> => {
      const resolved =
        token === '' ? null : await send(resolveSessionOperation, { body: { token, passive: true } });
      const session =
        resolved?.status === 200 ? (JSON.parse(resolved.body.toString()) as ResolvedSession) : undefined;
      const from = { address, userAgent: 'test', ...(device !== '' && { device }) };
      const actor: Actor = session ? { user: session.user, token, ...from } : { user: null, ...from };
      const answer = await send(operation, { tenant: session?.companyId ?? 0, actor, body, params, query });
      token = answer.headers?.[sessionTokenHeader] ?? token;
      device = answer.headers?.[deviceHeader] ?? device;
      const text = answer.body.toString();
      return { status: answer.status, ...(text !== '' && JSON.parse(text)) };
    },
  };
  return browser;
};

export const testPassword = 'seven otters juggle lanterns';
let serial = 0;
export const newAddress = (): string => `person${++serial}@example.com`;
/** Attempts are counted by network. */
export const newNetwork = (): string => `198.51.${++serial >> 8}.${serial & 255}`;
export const tokenOf = (link: unknown): string => String(link).split('#')[1]!;

/** Replicas of access, each with its options, behind a gateway. By default one. */
export const openPortal = async (...replicas: readonly Partial<AccessOptions>[]) => {
  const world = await testWorld();
  for (const options of replicas.length > 0 ? replicas : [{}]) await world.startAccess(options);
  const operator = operatorOf(await world.openBus('operator'));
  const gateway = await world.openBus('gateway');
  const { heard, leave } = await joinAsGateway(gateway, 'gateway-1');
  cleanUp(leave);
  const send = portalLaneOf(gateway);
  /** An owner who is signed in, with a company of their own, which others can join. */
  const newOwner = async (name = 'Acme') => {
    const address = newNetwork();
    const { company_id } = (await operator('createCompany', { name })).body;
    const email = newAddress();
    await operator('createPortalOwner', { company_id, email, password: testPassword });
    const browser = browserOf(send, address);
    await browser.ask('signIn', { email, password: testPassword });
    const join = async (role: Role, memberName = 'Ada') => {
      const invited = { email: newAddress(), role };
      const { link } = await browser.ask('inviteMember', invited);
      const joining = browserOf(send, address);
      const given = { token: tokenOf(link), name: memberName, password: testPassword };
      const joined = await joining.ask('acceptInvitation', given);
      return { browser: joining, email: invited.email, id: joined.user.id as number, joined };
    };
    return { browser, email, companyId: company_id as number, join };
  };
  return { world, operator, gateway, heard, send, newOwner };
};

/** A gateway as the key table sees it: listed, renewing its entry, and confirming changes after `answerAfterMs`. */
export const joinAsGateway = async (
  bus: Bus,
  instance: string,
  { answerAfterMs = 0, renews = true } = {},
) => {
  const bucket = await openGatewayBucket(bus, 1);
  const heard: { change: KeyTableChange; answeredMs: number }[] = [];
  const subscription = bus.nc.subscribe(keyRevokedSubject, {
    callback: (_, message) => {
      const change = message.json<KeyTableChange>();
      setTimeout(() => {
        if (bus.nc.isClosed()) return;
        heard.push({ change, answeredMs: performance.now() });
        message.respond(JSON.stringify({ instance } satisfies GatewayAnswer));
      }, answerAfterMs);
    },
  });
  await bucket.put(instance, 'here');
  const timer = setInterval(() => {
    if (renews) void bucket.put(instance, 'here').catch(() => {});
  }, 1000);
  cleanUp(() => clearInterval(timer));
  return {
    heard,
    /** Stops confirming but stays listed. */
    fallSilent: () => subscription.unsubscribe(),
    leave: async () => {
      clearInterval(timer);
      subscription.unsubscribe();
      await bucket.delete(instance);
    },
    die: () => {
      clearInterval(timer);
      subscription.unsubscribe();
    },
  };
};
