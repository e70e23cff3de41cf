import { startReceiver } from '@causeway/local/receiver';

/** What the receiver received: the arrival times of each event, by path and event. */
export interface Arrivals {
  readonly url: string;
  /** Times as of `performance.now()`; several if the event arrived more than once. */
  at(path: string): ReadonlyMap<string, readonly number[]>;
  forget(): void;
  close(): Promise<void>;
}

/** Starts a receiver that accepts every delivery and records its time. */
export const noteArrivals = async (): Promise<Arrivals> => {
  const paths = new Map<string, Map<string, number[]>>();
  const receiver = await startReceiver({
    counting: true,
    counted: (path, headers) => {
      const at = headers.findIndex((name, place) => place % 2 === 0 && /^x-webhook-id$/i.test(name));
      const events = paths.get(path) ?? new Map<string, number[]>();
      paths.set(path, events);
      const id = headers[at + 1] ?? '';
      const times = events.get(id);
      if (times) times.push(performance.now());
      else events.set(id, [performance.now()]);
    },
  });
  return {
    url: receiver.url,
    at: (path) => paths.get(path) ?? new Map(),
    forget: () => {
      paths.clear();
      receiver.forget();
    },
    close: () => receiver.close(),
  };
};
