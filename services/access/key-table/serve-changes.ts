import { type KeyChangesRequest, keyChangesSubject } from '@causeway/proto';
import { type Bus, isRequest, type Log } from '@causeway/runtime';
import type { Msg } from '@nats-io/transport-node';
import type { Journal } from './journal.ts';

/** Answers the processes that ask what of the key table they have missed. @returns a function that ends it. */
export const serveChanges = (bus: Bus, journal: Journal, log: Log): (() => Promise<void>) => {
  const answer = async (message: Msg): Promise<void> => {
    try {
      message.respond(JSON.stringify(await journal.changes(message.json<KeyChangesRequest>())));
    } catch (error) {
      log.warn({ error }, 'changes of the key table not answered');
      message.respond('null');
    }
  };
  const subscription = bus.nc.subscribe(keyChangesSubject, {
    queue: 'access',
    callback: (error, message) => {
      if (!error && isRequest(message)) void answer(message);
    },
  });
  return async () => subscription.unsubscribe();
};
