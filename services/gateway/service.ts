import { basePath, keyOperations } from '@causeway/proto';
import type { Kit } from '@causeway/runtime';
import type { Cells } from './cells/cells.ts';
import type { GatewayConfig } from './config.ts';
import type { Gateway } from './gateway.ts';
import { handle } from './handle.ts';
import { createBodies } from './http/body.ts';
import { loadUws, type us_listen_socket } from './http/uws.ts';
import { gatewayMetrics } from './metrics.ts';
import { createPages } from './pages.ts';
import { createPortal } from './portal/portal.ts';
import { createRouter } from './routes.ts';
import { countTraffic } from './traffic.ts';

/** How long slow clients may take to read their answers after a SIGTERM. */
const unsentPatienceMs = 5000;

/** Starts a gateway of `cells`. What it starts is registered with the kit, so that the kit's stop ends it. */
export const startGateway = async (
  kit: Kit,
  cells: Cells,
  config: GatewayConfig,
): Promise<{ port: number }> => {
  const { log, metrics, tracer } = kit;
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
    bytesInFlight: config.BODY_BYTES_IN_FLIGHT,
    chunks: config.BODY_MAX_CHUNKS,
  });
  metrics.gauge(gatewayMetrics.gateway_body_bytes_in_flight, bodies.bytesInFlight);
  const portal = createPortal({ log, folder: config.PORTAL_DIR });
  const gateway: Gateway = {
    cells,
    log,
    traffic,
    tracer,
    limits,
    route: createRouter(keyOperations, basePath),
    pages: createPages(),
    portal,
    bodies,
    keyPrefix: config.API_KEY_PREFIX,
    trustedProxies: config.TRUSTED_PROXIES,
    draining: false,
  };
  const port = await listen(kit, config, gateway);
  log.info({ port }, 'listening');
  return { port };
};

const listen = async (kit: Kit, config: GatewayConfig, gateway: Gateway): Promise<number> => {
  const uws = loadUws();
  const app = uws.App();
  let connections = 0;
  const countConnection = (_: unknown, change: unknown): void => {
    connections += Number(change);
  };
  app.filter(countConnection);
  app.any('/*', (response, request) => handle(gateway, response, request));
  const socket = await new Promise<us_listen_socket>((resolve, reject) =>
    app.listen(config.HOST, config.PORT, (listening) =>
      listening ? resolve(listening) : reject(new Error(`port ${config.PORT} is not available`)),
    ),
  );
  kit.onStop('HTTP', async () => {
    // New connections go to the other gateways on the port. Open ones are still served, and each answer asks its client
    // to close. Closing an idle connection at once would fail the request that its client is about to send.
    gateway.draining = true;
    for (const { tails } of gateway.cells.open()) tails.close();
    uws.us_listen_socket_close(socket);
    const lingerUntilMs = performance.now() + config.DRAIN_LINGER_MS;
    while (connections > 0 && performance.now() < lingerUntilMs) await delay(5);
    while (gateway.traffic.inFlight() > 0) await delay(5);
    const untilMs = performance.now() + unsentPatienceMs;
    while (gateway.traffic.unsent.answers > 0 && performance.now() < untilMs) await delay(5);
    app.close();
  });
  return uws.us_socket_local_port(socket);
};

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
