import { type Bus, isRequest } from './bus.ts';
import { createInFlight } from './in-flight.ts';

export interface ServedRequests {
  /** Takes no more requests. Resolves when those taken are answered. */
  stop(): Promise<void>;
}

/**
 * Answers the requests to a subject, as one of any number of processes that share a queue. Resolves when requests can arrive.
 * @param answer never rejects; undefined answers with an empty message
 */
export const serveRequests = async (
  bus: Bus,
  subject: string,
  queue: string,
  answer: (text: string) => Promise<string | undefined>,
): Promise<ServedRequests> => {
  const inFlight = createInFlight();
  const subscription = bus.nc.subscribe(subject, {
    queue,
    callback: (error, message) => {
      if (error || !isRequest(message)) return;
      inFlight.begin();
      void answer(message.string()).then((text) => {
        message.respond(text);
        inFlight.end();
      });
    },
  });
  await bus.flush();
  return {
    stop: async () => {
      subscription.unsubscribe();
      await inFlight.idle();
      await bus.flush();
    },
  };
};
