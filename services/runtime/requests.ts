import type { Msg } from '@nats-io/transport-node';

/**
 * NATS checks who publishes to a subject, but its own servers may publish to every subject: whoever may make a
 * consumer or a stream can have JetStream deliver what it holds to any. Such a message has the reply subject of an
 * acknowledgement, or none, or the headers of a republished one. So each listener looks where a message came from;
 * lanes do so by their own reply subjects (`answersTo`).
 */

/** Whether a client asked: its answer goes to a client's inbox. */
export const isRequest = ({ reply }: Pick<Msg, 'reply'>): boolean => reply?.startsWith('_INBOX') === true;

/** Whether a client told something that nobody answers. */
export const isNotice = ({ reply, headers }: Pick<Msg, 'reply' | 'headers'>): boolean =>
  !reply && !headers?.has('Nats-Stream') && !headers?.has('Nats-Sequence');

/**
 * What a notice lists, unchecked; undefined for what is none. Notices are JSON arrays: the answers of JetStream's
 * interface, which whoever asks it may have sent to any subject, are objects.
 */
export const readNotice = <Item>(message: Msg): readonly Item[] | undefined => {
  if (!isNotice(message)) return undefined;
  try {
    const items = message.json<Item[]>();
    return Array.isArray(items) ? items : undefined;
  } catch {
    return undefined;
  }
};
