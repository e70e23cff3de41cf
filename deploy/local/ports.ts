import { createServer } from 'node:net';

/** A TCP port of the loopback that was free a moment ago. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject()));
    });
  });

/** False when something listens there already. */
export const isPortFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server
      .once('error', () => resolve(false))
      .listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
