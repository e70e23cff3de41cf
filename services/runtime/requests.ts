import type { Msg } from '@nats-io/transport-node';

/**
 * NATS checks who publishes to a subject, but its own servers may publish to every subject. A client that may create
 * a consumer or a stream can make JetStream deliver messages to any subject. Such a message has the reply subject of
 * an acknowledgement, or none, or the headers of a republished one. So each listener checks where a message came
 * from; lanes check their own reply subjects (`answersTo`).
 */

/** True for a client's request: its answer goes to a client's inbox. */
export const isRequest = ({ reply }: Pick<Msg, 'reply'>): boolean => reply?.startsWith('_INBOX') === true;

/** True for a client's message that expects no answer. */
export const isNotice = ({ reply, headers }: Pick<Msg, 'reply' | 'headers'>): boolean =>
  !reply && !headers?.has('Nats-Stream') && !headers?.has('Nats-Sequence');

/**
 * The items of a notice, unchecked; undefined if it is not one. Notices are JSON arrays. Answers of the JetStream
 * API, which its callers can direct to any subject, are objects.
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
