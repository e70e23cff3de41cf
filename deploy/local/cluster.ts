import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ConfigError, checkNats, connectBus, MigrationError, migrate } from '@causeway/runtime';
import { createConnection } from 'mysql2/promise';
import { migrationFolders } from '../migrate/config.ts';
import { natsUsers } from '../nats/permissions.ts';
import { startBeside } from './beside.ts';
import { buildPortal, buildServices } from './builds.ts';
import { type Demo, seedDemoOnce } from './demo.ts';
import { startAtFirstCall } from './first-call.ts';
import { endLeftovers, stackMark } from './guarded.ts';
import { removeStack, type Stack, writeStack } from './home.ts';
import type { StartOptions } from './options.ts';
import { freePorts, isPortFree } from './ports.ts';
import { mysqlLauncher, natsLaunchers, type ServiceSpec, serviceSpecs, type Wiring } from './programs.ts';
import type { Report } from './report.ts';
import { mysqlUsers, openSecrets } from './secrets.ts';
import { explainDisk, SetupError } from './setup-error.ts';
import { type KeepOptions, type Kept, keep, runService } from './supervisor.ts';
import type { Toolchain } from './toolchain.ts';

interface ClusterContext {
  readonly root: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly toolchain: Toolchain;
  readonly options: StartOptions;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly wiring?: Wiring;
}

export interface Cluster {
  readonly stack: Stack;
  /** From the sources as they are now. */
  restart(service: string): Promise<void>;
  /** The edge first, then the services, then the servers. */
  stop(): Promise<void>;
}

const host = '127.0.0.1';
/** The process of `--together`. */
const allServices = 'services';
const leftoversGraceMs = 10_000;

/** @throws SetupError for problems that the user can fix. Nothing is left running after a failure. */
export const startCluster = async (context: ClusterContext): Promise<Cluster> => {
  const kept: Kept[] = [];
  const closers: (() => void)[] = [];
  const beside = await startBeside(context.home);
  const stop = async () => {
    removeStack(context.home);
    for (const close of closers) close();
    await stopInOrder(kept);
    await beside.close();
  };
  const restart = async (service: string) => {
    await buildServices(context.root, context.report);
    await Promise.all(
      kept
        .filter(({ name }) => name === allServices || name.startsWith(`${service}-`))
        .map((process) => process.restart()),
    );
  };
  try {
    return { stack: await bringUp(context, beside, kept, closers), restart, stop };
  } catch (error) {
    await stop();
    throw explainDisk(error, context.home);
  }
};

const bringUp = async (
  context: ClusterContext,
  { receiverUrl, inboxUrl, smtpUrl }: Awaited<ReturnType<typeof startBeside>>,
  kept: Kept[],
  closers: (() => void)[],
): Promise<Stack> => {
  const { home, env, options, report, signal, root } = context;
  const secrets = openSecrets(home);
  const baseUrl = `http://${host}:${options.port}`;
  let demo: Demo | undefined;

  await endLeftovers(home, leftoversGraceMs);
  await requirePort(options.port);
  const [agentsPort, calledPort, interfacePort] = (await freePorts(3)) as [number, number, number];
  const mail = {
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Causeway <no-reply@causeway.test>',
    // Passkeys need a name: browsers refuse them for an address.
    PORTAL_URL: `http://localhost:${options.port}/portal`,
  };

  const stack = (): Stack => ({
    baseUrl,
    portalUrl: `${baseUrl}/portal`,
    apiKey: demo?.apiKey ?? '',
    portalEmail: demo?.portalEmail ?? '',
    portalPassword: demo?.portalPassword ?? '',
    receiverUrl,
    inboxUrl,
    agentsUrl: `http://${host}:${agentsPort}`,
    mysqlUrl: mysqlUrl(),
    natsUrl: natsUrl('operator'),
    processes: kept.map((part) => ({ name: part.name, pid: part.pid(), metricsUrl: part.metricsUrl() })),
  });
  const changed = () => {
    if (!demo) return;
    try {
      writeStack(home, stack());
    } catch (error) {
      report.line(`stack.json could not be written: ${(error as Error).message}`);
    }
  };
  const start = (part: Pick<KeepOptions, 'name' | 'launch'>): Promise<void> => {
    signal.throwIfAborted();
    const one = keep({ ...part, changed, say: report.line });
    kept.push(one);
    return orAborted(one.ready, signal);
  };

  const users = natsUsers(secrets);
  const mysql = mysqlLauncher(context.toolchain, home);
  const nats = await natsLaunchers({
    count: options.nats,
    toolchain: context.toolchain,
    home,
    users,
    routesPassword: secrets('nats routes'),
    wiring: context.wiring,
  });
  const mysqlUrl = () => env.MYSQL_URL || mysql.server().url;
  const natsUrl = (user: string) =>
    env.NATS_URL ||
    nats.map((one, at) => (at === 0 ? one.server().urlFor(user) : one.server().url)).join(',');

  // Neither waits for the other, and the servers for neither.
  const builds = [env.PORTAL_DIR || buildPortal(root, report), buildServices(root, report)] as const;
  const built = Promise.all(builds);
  built.catch(() => {});
  await report.step('MySQL and NATS', () =>
    all([
      ...(env.MYSQL_URL ? [requireMysql(env.MYSQL_URL)] : [start({ name: 'mysql', launch: mysql.launch })]),
      ...(env.NATS_URL
        ? [requireNats(env.NATS_URL)]
        : nats.map(({ name, launch }) => start({ name, launch }))),
    ]),
  );
  await report.step('schema', () => orAborted(startMigrations(root, mysqlUrl(), report), signal));
  // The user of an external MySQL may not be allowed to create users there.
  const { make: makeUsers, urlFor } = mysqlUsers(root, secrets);
  if (!env.MYSQL_URL) await report.step('users', () => orAborted(makeUsers(mysqlUrl()), signal));

  const [portalDir, servicesDir] = await orAborted(built, signal);
  const settingsOf = (spec: ServiceSpec, name: string): NodeJS.ProcessEnv => ({
    ...(options.nats >= 3 ? { NATS_REPLICAS: '3' } : {}),
    ...(spec.keepsMembers && !env.SMTP_URL ? mail : {}),
    ...passedOn(env),
    [stackMark]: home,
    INSTANCE: name,
    METRICS_PORT: '0',
    ...(spec.isCalled || spec.name === 'gateway' ? { PUBLIC_URL: baseUrl, PORTAL_URL: mail.PORTAL_URL } : {}),
    ...(spec.isCalled
      ? { HOST: host, PORT: String(calledPort), INTERFACE_URL: `http://${host}:${interfacePort}` }
      : { NATS_URL: natsUrl(spec.name) }),
    ...(spec.mysqlUser ? { MYSQL_URL: env.MYSQL_URL || urlFor(spec.mysqlUser, mysqlUrl()) } : {}),
    ...(spec.keepsSecrets
      ? { WEBHOOKS_SECRET_KEYS: env.WEBHOOKS_SECRET_KEYS || keyRing(secrets('webhooks secret key')) }
      : {}),
    ...(spec.keepsMembers
      ? { PORTAL_SECRET_KEYS: env.PORTAL_SECRET_KEYS || keyRing(secrets('portal secret key')) }
      : {}),
    ...(spec.name === 'gateway'
      ? {
          ...{ HOST: host, PORT: String(options.port), PORTAL_DIR: portalDir },
          ...{ AGENTS_URL: `http://${host}:${agentsPort}`, AGENTS_PORT: String(interfacePort) },
        }
      : {}),
  });
  const launchOf =
    (name: string, program: string, settings: () => NodeJS.ProcessEnv, services = 1) =>
    async () => {
      const environment = settings();
      return runService({
        ...{ name, services, entry: join(servicesDir, `${program}.mjs`) },
        env: (await context.wiring?.environment?.(name, environment)) ?? environment,
        logFile: join(home, 'logs', `${name}.log`),
      });
    };
  const startService = (spec: ServiceSpec): Promise<unknown>[] =>
    Array.from({ length: options.counts[spec.name] }, (_, at) => {
      const name = `${spec.name}-${at + 1}`;
      return start({ name, launch: launchOf(name, spec.name, () => settingsOf(spec, name)) });
    });
  const startTogether = (): Promise<void> => {
    const settings = () =>
      Object.fromEntries([
        ...Object.entries({ ...passedOn(env), [stackMark]: home }),
        ...resident.flatMap((spec) =>
          Object.entries(settingsOf(spec, `${spec.name}-1`)).map(
            ([variable, value]) => [`${spec.name.toUpperCase()}__${variable}`, value] as const,
          ),
        ),
      ]);
    return start({ name: allServices, launch: launchOf(allServices, 'together', settings, resident.length) });
  };
  const startCalled = async (spec: ServiceSpec): Promise<void> => {
    const name = `${spec.name}-1`;
    const launch = launchOf(name, spec.name, () => settingsOf(spec, name));
    const onFailure = ({ message }: Error) => report.line(message);
    const ends = { host, port: agentsPort, target: calledPort };
    closers.push(await startAtFirstCall({ ...ends, start: () => start({ name, launch }), onFailure }));
  };
  const resident = serviceSpecs.filter(({ isCalled }) => !isCalled);
  await report.step('services', () =>
    all([
      ...serviceSpecs.filter(({ isCalled }) => isCalled).map(startCalled),
      ...(options.together ? [startTogether()] : resident.flatMap(startService)),
    ]),
  );

  demo = await seedDemoOnce({
    ...{ home, report, signal },
    mysqlUrl: mysqlUrl(),
    isVtgate: env.MYSQL_SHARDS === 'vtgate',
    natsUrl: natsUrl('operator'),
  });
  signal.throwIfAborted();
  writeStack(home, stack());
  return stack();
};

const keyRing = (secret: string): string => `local:${createHash('sha256').update(secret).digest('base64')}`;

const passedOn = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const own = /^(npm_|MYSQL_URL$|NATS_URL$|PORT$|HOST$|INSTANCE$|METRICS_)/;
  const settings = Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
  return { WEBHOOKS_ALLOW_HTTP: 'true', WEBHOOKS_ALLOW_PRIVATE: 'true', ...settings };
};

const requirePort = async (port: number): Promise<void> => {
  if (await isPortFree(port, host)) return;
  throw new SetupError(
    `Port ${port} is taken: stop what listens there, or choose another, as in \`npm start -- --port ${port + 1}\`.`,
  );
};

const stopInOrder = async (kept: readonly Kept[]): Promise<void> => {
  const isServer = ({ name }: Kept) => /^(mysql|nats(-\d+)?)$/.test(name);
  const isEdge = ({ name }: Kept) => name.startsWith('gateway-');
  const stopAll = (parts: readonly Kept[]) => Promise.all(parts.map((part) => part.stop()));
  await stopAll(kept.filter(isEdge));
  await stopAll(kept.filter((part) => !isEdge(part) && !isServer(part)));
  await stopAll(kept.filter(isServer));
};

const all = async (parts: readonly Promise<unknown>[]): Promise<void> => {
  await Promise.all(parts);
};

const orAborted = <Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> =>
  Promise.race([
    work,
    new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    ),
  ]);

const startMigrations = async (root: string, mysqlUrl: string, report: Report): Promise<void> => {
  const onTriggersRefused = (file: string) =>
    report.line(`${file} needs the server's log_bin_trust_function_creators; everything works without it.`);
  try {
    await migrate(mysqlUrl, migrationFolders(root), { onTriggersRefused });
  } catch (error) {
    const isKnown = error instanceof MigrationError || error instanceof ConfigError;
    throw isKnown ? new SetupError(error.message) : error;
  }
};

/** @throws SetupError if the server does not accept us */
const requireMysql = async (url: string): Promise<void> => {
  try {
    const server = new URL(url);
    // The first migration may still have to create the database.
    server.pathname = '/';
    const connection = await createConnection({ uri: server.href, connectTimeout: 5000 });
    await connection.end();
  } catch (error) {
    throw refusedError('MYSQL_URL', 'MySQL', error);
  }
};

/** @throws SetupError if the server does not accept us */
const requireNats = async (url: string): Promise<void> => {
  try {
    const bus = await connectBus({ url, name: 'operator' });
    await checkNats(bus.nc, bus.inbox()).finally(() => bus.close());
  } catch (error) {
    if (error instanceof ConfigError) throw new SetupError(error.message);
    throw refusedError('NATS_URL', 'NATS', error);
  }
};

const refusedError = (variable: string, server: string, error: unknown): SetupError =>
  new SetupError(
    `The ${server} that ${variable} names did not accept the connection (${(error as Error).message}): ` +
      `start it, correct ${variable}, or unset it to have a server started here.`,
  );
