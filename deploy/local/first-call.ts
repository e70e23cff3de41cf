import { connect, createServer, type Socket } from 'node:net';

interface FirstCallOptions {
  readonly host: string;
  readonly port: number;
  /** Where the process listens. */
  readonly target: number;
  readonly start: () => Promise<void>;
  readonly onFailure: (error: Error) => void;
}

/** Starts a process at the first connection to a port, whose connections all lead to it: what nobody calls takes no memory. */
export const startAtFirstCall = async (options: FirstCallOptions): Promise<() => void> => {
  const { host, port, target, start, onFailure } = options;
  const sockets = new Set<Socket>();
  let started: Promise<void> | undefined;
  const startOnce = async (): Promise<void> => {
    try {
      await start();
    } catch (error) {
      started = undefined;
      onFailure(error as Error);
      throw error;
    }
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    started ??= startOnce();
    started.then(
      () => pass(socket, connect(target, host)),
      () => socket.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return () => {
    server.close();
    for (const one of sockets) one.destroy();
  };
};

const pass = (from: Socket, to: Socket): void => {
  to.on('error', () => from.destroy()).on('close', () => from.destroy());
  from.on('close', () => to.destroy());
  from.pipe(to).pipe(from);
};
