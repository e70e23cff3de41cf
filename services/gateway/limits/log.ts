import { limitLogSubject, limitStream } from '@causeway/proto';
import {
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type SeqMsgRequest,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { applyDeltas, type Counts, createCounts, type Deltas } from './counts.ts';

/**
 * One message of a partition's log. `counts` are increments, or with `snapshot` the whole state, in which
 * case the message has replaced all before it.
 */
interface LogEntry {
  readonly epoch: string;
  readonly counts: Deltas;
  readonly snapshot?: true;
  /** Its writer has released the partition: any gateway may take it over at once. */
  readonly released?: true;
}

/** The log's last message: its sequence (0: none), and the owner's epoch (null: the partition has no owner). */
export interface Tail {
  readonly sequence: number;
  readonly epoch: string | null;
}

/** Another process has written to the partition's log, so nothing was appended. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
}

/** The partition logs, in one JetStream stream. */
export interface LimitLog {
  tail(partition: number): Promise<Tail>;
  /** The counts up to the tail. @throws if the log cannot be read to its end in time. */
  replay(partition: number): Promise<{ tail: Tail; counts: Counts }>;
  /**
   * Appends if the log's last message is still the one with `expectedSequence`.
   * @returns the new message's sequence, when the server has stored it.
   * @throws FencedError if it is not: nothing was appended. Any other error: unknown whether it was.
   */
  append(partition: number, entry: LogEntry, expectedSequence: number): Promise<number>;
}

/** Concurrent reads in a replay: each is a round trip to the server. */
const readsAtOnce = 256;

/** @throws if the stream does not exist yet: `access` creates it. */
export const openLimitLog = async (nc: NatsConnection, options: LimitLogOptions): Promise<LimitLog> => {
  const js: JetStreamClient = jetstream(nc, { timeout: options.timeoutMs });
  const jsm: JetStreamManager = await jetstreamManager(nc, { checkAPI: false });
  await jsm.streams.info(limitStream);

  const readLast = async (partition: number): Promise<{ tail: Tail; entry: LogEntry | undefined }> => {
    const message = await jsm.streams.getMessage(limitStream, { last_by_subj: limitLogSubject(partition) });
    const entry = message?.json<LogEntry>();
    const epoch = entry === undefined || entry.released ? null : entry.epoch;
    return { tail: { sequence: message?.seq ?? 0, epoch }, entry };
  };

  return {
    tail: async (partition) => (await readLast(partition)).tail,
    replay: async (partition) => {
      const counts = createCounts();
      const { tail: last, entry } = await readLast(partition);
      if (last.sequence === 0) return { tail: last, counts };
      if (entry?.snapshot) {
        // It has replaced all earlier messages, so there is nothing more to read and a takeover is quick.
        applyDeltas(counts, entry);
        return { tail: last, counts };
      }
      // Not a consumer: permission to create one would allow delivering the stream to any subject.
      // The server supports this query; only the client's type lacks it.
      const first = await jsm.streams.getMessage(limitStream, {
        next_by_subj: limitLogSubject(partition),
        seq: 1,
      } as SeqMsgRequest);
      let reached = 0;
      for (let from = first?.seq ?? last.sequence; from <= last.sequence; from += readsAtOnce) {
        const count = Math.min(readsAtOnce, last.sequence - from + 1);
        const messages = await Promise.all(
          Array.from({ length: count }, (_, at) => jsm.streams.getMessage(limitStream, { seq: from + at })),
        );
        for (const message of messages) {
          // A snapshot has replaced missing messages; the others belong to other partitions.
          if (message?.subject !== limitLogSubject(partition)) continue;
          reached = message.seq;
          applyDeltas(counts, message.json<LogEntry>());
        }
      }
      // Counting on from a part of the log would admit requests twice. If the rest has aged out, the next try finds
      // the log empty.
      if (reached !== last.sequence) throw new Error(`limit log ${partition} was not read to its end`);
      return { tail: last, counts };
    },
    append: async (partition, entry, expectedSequence) => {
      const messageHeaders = headers();
      messageHeaders.set('Nats-Expected-Last-Subject-Sequence', `${expectedSequence}`);
      if (entry.snapshot) messageHeaders.set('Nats-Rollup', 'sub');
      try {
        const ack = await js.publish(limitLogSubject(partition), JSON.stringify(entry), {
          headers: messageHeaders,
        });
        return ack.seq;
      } catch (error) {
        if (error instanceof JetStreamApiError && fencedCodes.has(error.code)) {
          throw new FencedError(`limit log ${partition} has moved on`, { cause: error });
        }
        throw error;
      }
    },
  };
};

/** "wrong last sequence"; an R3 stream also reports it as "wrong last sequence, in flight". */
const fencedCodes: ReadonlySet<number> = new Set([10071, 10164]);

export interface LimitLogOptions {
  readonly timeoutMs: number;
}
