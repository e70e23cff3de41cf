import { connect, createServer, type Socket } from 'node:net';

interface FirstCallOptions {
  readonly host: string;
  readonly port: number;
  /** Starts the process that listens there from then on. */
  readonly start: () => Promise<void>;
  readonly onFailure: (error: Error) => void;
}

/** Starts a process at the first connection to its port, which it serves too: what nobody calls takes no memory. */
export const startAtFirstCall = async (options: FirstCallOptions): Promise<() => void> => {
  const { host, port, start, onFailure } = options;
  const waiting: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    waiting.push(socket);
    if (waiting.length > 1) return;
    // The port is free again at once: connections that are open do not hold it.
    server.close();
    start().then(
      () => {
        for (const one of waiting) pass(one, connect(port, host));
      },
      (error: Error) => {
        onFailure(error);
        for (const one of waiting) one.destroy();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return () => {
    server.close();
    for (const one of waiting) one.destroy();
  };
};

const pass = (from: Socket, to: Socket): void => {
  to.on('error', () => from.destroy()).on('close', () => from.destroy());
  from.on('close', () => to.destroy());
  from.pipe(to).pipe(from);
};
