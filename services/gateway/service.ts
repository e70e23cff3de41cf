import { setTimeout as sleep } from 'node:timers/promises';
import { followKeyTable } from '@causeway/identity';
import {
  basePath,
  keyOperations,
  laneSubject,
  limitLogNumbers,
  replyPrefix,
  type ServiceName,
  services,
} from '@causeway/proto';
import {
  type Bus,
  createLaneClient,
  createTurns,
  type Kit,
  type LaneClient,
  reportError,
} from '@causeway/runtime';
import { agentAnswers, serveAgent } from './agents.ts';
import { agentsPath, createAgents } from './ask-agents.ts';
import { createBounds } from './bounds.ts';
import type { GatewayConfig } from './config.ts';
import { Exchange } from './exchange.ts';
import { invalidHost, pageWithChunks } from './failures.ts';
import type { Gateway } from './gateway.ts';
import { createBodies } from './http/body.ts';
import { addressOf, readHead, reads } from './http/head.ts';
import {
  type HttpRequest,
  type HttpResponse,
  loadUws,
  type TemplatedApp,
  type us_listen_socket,
} from './http/uws.ts';
import { createHeldRequests } from './keys/long-poll.ts';
import { keepPresence } from './keys/presence.ts';
import { isApiPath, keyAnswers, serveKey } from './keys/serve.ts';
import { createCounter } from './limits/counter.ts';
import { createLimiter } from './limits/limiter.ts';
import { gatewayMetrics } from './metrics.ts';
import { createPages } from './pages.ts';
import { memberAnswers } from './portal/answers.ts';
import { createPortal } from './portal/portal.ts';
import { serveMember } from './portal/serve.ts';
import { openSessions } from './portal/sessions.ts';
import { readCachingHead, readVisit } from './portal/visit.ts';
import { openRequestLog } from './request-log.ts';
import { createRouter } from './routes.ts';
import { countTraffic } from './traffic.ts';

/** Leaves a second of the shortest deadline of an operation (contract, "Rate limits"). */
const countTimeoutMs = 4_000;
/** An election takes up to nine seconds if a server has just died. */
const startPatienceMs = 30_000;
const retryMs = 250;
/** How long slow clients may take to read their answers after a SIGTERM. */
const unsentPatienceMs = 5000;
/** Of all requests; beyond it, the gateway sheds load. */
const maxBodyBytes = 64 * 2 ** 20;

/** The kit's stop ends everything that is started here. */
export const startGateway = async (kit: Kit, bus: Bus, config: GatewayConfig): Promise<{ port: number }> => {
  const { log, metrics } = kit;
  const upstream = await openUpstream(kit, bus, config);
  const traffic = countTraffic(metrics);
  const limits = {
    read: config.RATE_LIMIT_READ,
    write: config.RATE_LIMIT_WRITE,
    admin: config.RATE_LIMIT_ADMIN,
    lookup: config.RATE_LIMIT_LOOKUP,
    companyFactor: config.RATE_LIMIT_COMPANY_FACTOR,
    portal: config.RATE_LIMIT_PORTAL,
  };
  const bodies = createBodies({
    bytesInFlight: maxBodyBytes,
    chunks: config.BODY_MAX_CHUNKS,
  });
  metrics.gauge(gatewayMetrics.gateway_body_bytes_in_flight, bodies.bytesInFlight);
  const agents = createAgents(config.AGENTS_URL);
  kit.onStop('agents', agents.close);
  const portal = createPortal({ log, folder: config.PORTAL_DIR });
  const gateway: Gateway = {
    ...upstream,
    log,
    traffic,
    limits,
    route: createRouter(keyOperations, basePath),
    pages: createPages(serverOf(config)),
    portal,
    bodies,
    bounds: createBounds(),
    largeBodies: createTurns(),
    agents,
    keyPrefix: config.API_KEY_PREFIX,
    trustedProxies: config.TRUSTED_PROXIES,
    draining: false,
  };
  const port = await listen(kit, config, gateway);
  log.info({ port }, 'listening');
  return { port };
};

/** Never from a `Host`, which a stranger may have made up. */
const serverOf = ({ PUBLIC_URL, PORTAL_URL }: GatewayConfig): string | undefined =>
  PUBLIC_URL?.replace(/\/(?:api\/v1\/?)?$/, '') ?? (PORTAL_URL && new URL(PORTAL_URL).origin);

const openUpstream = async (kit: Kit, bus: Bus, config: GatewayConfig) => {
  const { log, metrics, instance } = kit;
  const giveUpMs = performance.now() + startPatienceMs;
  /** Retries while a cluster that has just started elects its leaders. */
  const atStart = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() + retryMs > giveUpMs) throw error;
        log.info({ reason: String(error) }, 'NATS is not ready yet');
      }
      await sleep(retryMs);
    }
  };
  const counter = createCounter({
    bus,
    logs: limitLogNumbers(config.NATS_REPLICAS),
    timeoutMs: countTimeoutMs,
    logger: log,
    metrics,
  });
  kit.onStop('counters', () => counter.drain());
  const lanes = Object.fromEntries(
    services.map((service) => [
      service,
      createLaneClient({
        bus,
        lane: service,
        subject: laneSubject(service),
        replySubject: `${replyPrefix('gateway')}.${instance}.${service}`,
        metrics,
        log,
      }),
    ]),
  ) as Record<ServiceName, LaneClient>;
  kit.onStop('lanes', () => {
    for (const lane of Object.values(lanes)) lane.close();
  });
  const requestLog = openRequestLog({ bus, metrics });
  kit.onStop('request log', requestLog.flush);
  const table = followKeyTable({ bus, confirmsAs: instance, log, metrics });
  kit.onStop('key table', () => table.close());
  // Lists itself before it reads the table: a listed gateway receives every revocation.
  const presence = await atStart(() =>
    keepPresence({
      bus,
      instance,
      log,
      onLapse: () => void table.reload('its presence had lapsed'),
    }),
  );
  kit.onStop('presence', () => presence.close());
  bus.onReconnect(() => void table.reload('NATS is back'));
  await table.reload('start');
  kit.ready('key table', () => table.trusted());
  await atStart(counter.warm);
  return {
    bus,
    table,
    limiter: createLimiter(counter),
    lanes,
    requestLog,
    sessions: openSessions(lanes),
    held: createHeldRequests({ bus, metrics }),
  };
};

const listen = async (kit: Kit, config: GatewayConfig, gateway: Gateway): Promise<number> => {
  const uws = loadUws();
  const app = uws.App();
  let connections = 0;
  const countConnection = (_: unknown, change: unknown): void => {
    connections += Number(change);
  };
  app.filter(countConnection);
  app.any('/*', guarded(gateway, handle));
  const sockets = [await listenOn(app, config.HOST, config.PORT)];
  const tools = uws.App();
  if (config.AGENTS_PORT !== undefined) {
    tools.filter(countConnection);
    tools.any('/*', guarded(gateway, handleTool));
    sockets.push(await listenOn(tools, config.HOST, config.AGENTS_PORT));
  }
  kit.onStop('HTTP', async () => {
    // New connections go to the other gateways on the port. Open ones are still served, and each answer asks its client
    // to close. Closing an idle connection at once would fail the request that its client is about to send.
    gateway.draining = true;
    gateway.held.close();
    for (const socket of sockets) uws.us_listen_socket_close(socket);
    const lingerUntilMs = performance.now() + config.DRAIN_LINGER_MS;
    while (connections > 0 && performance.now() < lingerUntilMs) await sleep(5);
    while (gateway.traffic.inFlight() > 0) await sleep(5);
    const untilMs = performance.now() + unsentPatienceMs;
    while (gateway.traffic.unsent.answers > 0 && performance.now() < untilMs) await sleep(5);
    app.close();
    tools.close();
  });
  return uws.us_socket_local_port(sockets[0]!);
};

const listenOn = (app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> =>
  new Promise((resolve, reject) =>
    app.listen(host, port, (listening) =>
      listening ? resolve(listening) : reject(new Error(`port ${port} is not available`)),
    ),
  );

type Handle = (gateway: Gateway, response: HttpResponse, request: HttpRequest) => void;

const guarded =
  (gateway: Gateway, handler: Handle) =>
  (response: HttpResponse, request: HttpRequest): void => {
    try {
      handler(gateway, response, request);
    } catch (error) {
      // An unanswered request without a handler of its end would end the process.
      reportError(error);
      response.close();
    }
  };

/** A tool's request, from `agents`, which names the agent's address. */
const handleTool: Handle = (gateway, response, request) => {
  const head = readHead(request);
  const exchange = new Exchange(gateway, response, head, addressOf(response, head, 1), keyAnswers);
  try {
    serveKey(gateway, exchange).catch((error: unknown) => exchange.fail(error));
  } catch (error) {
    exchange.fail(error);
  }
};

/** Everything needed from uWebSockets.js is read before the first await. */
const handle: Handle = (gateway, response, request) => {
  const head = readHead(request);
  if (head.broken) {
    gateway.traffic.broken();
    response.close();
    return;
  }
  const { portal, pages, trustedProxies } = gateway;
  const address = addressOf(response, head, trustedProxies);
  const isPortal = !isApiPath(head.path) && portal.takes(head.path);
  const visit = isPortal ? readVisit(request, address, trustedProxies) : undefined;
  const isAgent = head.path === agentsPath;
  const rules = visit ? memberAnswers(visit.client) : isAgent ? agentAnswers : keyAnswers;
  const exchange = new Exchange(gateway, response, head, address, rules);
  try {
    if (!head.hasHost) throw invalidHost();
    const page = visit
      ? portal.page(head, visit.head)
      : reads(head.method) &&
        (pages.get(`${head.path}?${head.query}`) ?? pages.get(head.path))?.(readCachingHead(request));
    if (page) {
      if (head.bodyBytes < 0) throw pageWithChunks();
      exchange.answer(page.status, page.body, page.headers);
      return;
    }
    const served = visit
      ? serveMember(gateway, exchange, visit)
      : isAgent
        ? serveAgent(gateway, exchange, request)
        : serveKey(gateway, exchange);
    served.catch((error: unknown) => exchange.fail(error));
  } catch (error) {
    exchange.fail(error);
  }
};
