import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Outgoing connections get higher ports (from 32768 on Linux), so none takes one of these before it is used. */
const range = { first: 10_000, end: 32_768 };

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(range.first, range.end);
    if (await isPortFree(port, '127.0.0.1')) return port;
  }
};

export const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
};

export const isPortFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server
      .once('error', () => resolve(false))
      .listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
