import { startReceiver } from '@causeway/local/receiver';
import type { Arrival } from './history/call.ts';

/** A receiver that writes every delivery down. */
export interface Receiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  forget(): void;
  close(): Promise<void>;
}

export const openReceiver = async (): Promise<Receiver> => {
  const arrivals: Arrival[] = [];
  const receiver = await startReceiver({
    counting: true,
    counted: (path, _headers, body, response) => {
      const { headers: named, socket } = response.req;
      const headers = named as Readonly<Record<string, string>>;
      const arrival: Arrival = {
        path,
        id: headers['x-webhook-id'] ?? '',
        attempt: Number(headers['x-webhook-attempt']),
        headers,
        body: body.toString(),
        atMs: performance.now(),
      };
      arrivals.push(arrival);
      response.once('finish', () => {
        // It comes without a connection too.
        if (response.statusCode === 200 && !socket.destroyed) arrival.answeredMs = performance.now();
      });
    },
  });
  return {
    url: receiver.url,
    arrivals,
    forget: () => {
      arrivals.length = 0;
      receiver.forget();
    },
    close: () => receiver.close(),
  };
};
