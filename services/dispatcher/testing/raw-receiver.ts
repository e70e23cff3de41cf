import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** `nth` counts the requests from one. */
export type Behaviour = (socket: Socket, request: string, nth: number) => void;

export interface RawReceiver {
  readonly port: number;
  readonly url: string;
  readonly requests: string[];
  connections(): number;
  open(): number;
  pause(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RawOptions {
  readonly tls?: TlsOptions;
  readonly host?: string;
  readonly greet?: (socket: Socket) => void;
}

/** Raw bytes can break HTTP in any way. */
export const startRawReceiver = async (
  behave: Behaviour,
  { tls, host = '127.0.0.1', greet = () => {} }: RawOptions = {},
): Promise<RawReceiver> => {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connections = 0;
  let paused = false;
  const accept = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    greet(socket);
    if (paused) return;
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      for (let end = endOf(text); end > 0; end = endOf(text)) {
        requests.push(text.slice(0, end));
        text = text.slice(end);
        behave(socket, requests.at(-1) ?? '', requests.length);
      }
    });
  };
  const server = tls ? createTlsServer(tls, accept) : createServer(accept);
  server.on('tlsClientError', () => {});
  await once(server.listen(0, host), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}/hook`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    pause: () => {
      paused = true;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

export const answer = (status: number, body = '', headers = ''): string =>
  `HTTP/1.1 ${status} X\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

/** 0 while the request is incomplete. */
const endOf = (text: string): number => {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + 4 + length;
  return text.length >= end ? end : 0;
};
