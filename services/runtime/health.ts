import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

/** Returns true while its part of the process can work. */
export type ReadyCheck = () => boolean;

export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * `/healthz` (the process is alive), `/readyz` (it can work; a 503 names what is missing) and `/metrics` (Prometheus
 * text), on a port of their own.
 */
export const startHealth = async ({ host, port, registry, checks }: HealthOptions): Promise<HealthServer> => {
  const server = createServer(async (request, response) => {
    const answer = (status: number, type: string, body: string) =>
      response.writeHead(status, { 'Content-Type': type }).end(body);
    switch (request.url) {
      case '/healthz':
        return answer(200, 'text/plain', 'ok\n');
      case '/readyz': {
        const missing = [...checks].filter(([, check]) => !check()).map(([name]) => name);
        return missing.length === 0
          ? answer(200, 'text/plain', 'ready\n')
          : answer(503, 'text/plain', `not ready: ${missing.join(', ')}\n`);
      }
      case '/metrics':
        return answer(200, registry.contentType, await registry.metrics());
      default:
        return answer(404, 'text/plain', 'not found\n');
    }
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  readonly checks: ReadonlyMap<string, ReadyCheck>;
}
