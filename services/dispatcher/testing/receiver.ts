import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp } from '@causeway/runtime/testing';

/** One received request. */
export interface Received {
  readonly atMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Of the event. */
  readonly id: number;
}

/** A receiver for tests: answers as configured and records its requests. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The most requests open at the same time since the test last reset it. */
  mostAtATime: number;
  /** Writes the answer; 200 by default. If it does nothing, the request hangs. */
  answer: (response: ServerResponse, request: Received) => void;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export const startReceiver = async (): Promise<Receiver> => {
  let server: Server | undefined;
  let port = 0;
  let open = 0;
  const listen = async (): Promise<void> => {
    server = createServer((request, response) => {
      open++;
      receiver.mostAtATime = Math.max(receiver.mostAtATime, open);
      response.once('close', () => open--);
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const received = { atMs: Date.now(), headers: request.headers, body, id: JSON.parse(body).id };
        receiver.received.push(received);
        receiver.answer(response, received);
      });
    });
    await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    if (!closing) return;
    const closed = new Promise((resolve) => closing.close(resolve));
    closing.closeAllConnections();
    await closed;
  };
  const receiver: Receiver = {
    url: '',
    received: [],
    mostAtATime: 0,
    answer: (response) => response.end('thanks'),
    down: close,
    up: listen,
  };
  await listen();
  cleanUp(close);
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/hook` });
};
