import { limitEntrySubject, limitLogStream } from '@causeway/proto';
import { headers } from '@nats-io/transport-node';
import type { Ask } from './ask.ts';
import type { Entry, LimitLog, LogState } from './log.ts';

/**
 * A log in the JetStream stream `LIMIT_LOG_<log>`, which has one copy and so needs no leader: only the server
 * that has it answers. Reads come as JSON. A direct read would deliver the stored message itself to any subject that
 * its requester names, and a consumer would have to be created by the leader of the cluster.
 */
export const openJetStreamLog = (ask: Ask, { log, timeoutMs }: JetStreamLogOptions): LimitLog => {
  const stream = limitLogStream(log);
  const allEntries = limitEntrySubject(log, '*');
  const readSubject = `$JS.API.STREAM.MSG.GET.${stream}`;

  /** Reads a message. @returns null if there is none, undefined without an answer. */
  const read = (query: object, done: (message: Stored | null | undefined) => void): void =>
    ask(readSubject, JSON.stringify(query), { timeoutMs }, (reply) => {
      if (!reply || reply === 'nobody') return done(undefined);
      const { message, error } = reply.json<ReadReply>();
      done(message ?? (error?.err_code === noMessageCode ? null : undefined));
    });
  const publish = (
    subject: string,
    payload: Uint8Array,
    options: readonly (readonly [name: string, value: string])[],
    done: (result: number | 'refused' | undefined) => void,
  ): void => {
    const messageHeaders = headers();
    for (const [name, value] of options) messageHeaders.set(name, value);
    ask(subject, payload, { timeoutMs, headers: messageHeaders }, (reply) => {
      if (!reply || reply === 'nobody') return done(undefined);
      const { seq, error } = reply.json<AppendReply>();
      if (error) done(refusedCodes.has(error.err_code) ? 'refused' : undefined);
      else done(seq);
    });
  };

  return {
    readState: (done) =>
      read({ last_by_subj: allEntries }, (last) => {
        if (!last) return done(last === null ? nameless : undefined);
        const { epoch, number, released, joining } = parse(last);
        const store = last.subject.slice(last.subject.lastIndexOf('.') + 1);
        done({ store, member: !joining, sequence: last.seq, epoch: released ? null : epoch, number });
      }),
    readEntries: (state, done) => readEntries(read, limitEntrySubject(log, state.store ?? ''), state, done),
    append: ({ store, entry, expectedSequence, replaces }, done) =>
      publish(
        limitEntrySubject(log, store),
        entry,
        [
          ['Nats-Expected-Last-Subject-Sequence', String(expectedSequence)],
          expectedSequence === 0
            ? ['Nats-Expected-Last-Subject-Sequence-Subject', allEntries]
            : ['Nats-Expected-Last-Sequence', String(expectedSequence)],
          ...(replaces ? ([['Nats-Rollup', 'sub']] as const) : []),
        ],
        done,
      ),
    purge: (store, seq) =>
      ask(
        `$JS.API.STREAM.PURGE.${stream}`,
        JSON.stringify({ filter: limitEntrySubject(log, store), seq }),
        { timeoutMs },
        () => {},
      ),
  };
};

const nameless: LogState = { store: undefined, member: false, sequence: 0, epoch: null, number: 0 };

type Read = (query: object, done: (message: Stored | null | undefined) => void) => void;

/** Reads the entries of a subject up to the state's, as JSON messages, several at a time. */
const readEntries = (
  read: Read,
  subject: string,
  { sequence }: LogState,
  done: (entries: readonly Entry[] | undefined) => void,
): void => {
  if (sequence === 0) {
    queueMicrotask(() => done([]));
    return;
  }
  read({ seq: sequence }, (last) => {
    const entry = last?.subject === subject ? parse(last) : undefined;
    // It may have been replaced or have expired since: then it does not show what was there.
    if (!entry) return done(undefined);
    if (entry.whole) return done([entry]);
    read({ next_by_subj: subject, seq: 1 }, (first) => {
      if (!first) return done(undefined);
      const entries: Entry[] = [];
      let next = first.seq;
      let pending = 0;
      let failed = false;
      const readMore = (): void => {
        while (pending < readsAtOnce && next < sequence && !failed) {
          pending++;
          read({ seq: next++ }, (message) => {
            pending--;
            if (message === undefined) failed = true;
            else if (message?.subject === subject) entries.push(parse(message));
            if (failed ? pending === 0 : next === sequence && pending === 0)
              done(failed ? undefined : [...entries, entry]);
            else readMore();
          });
        }
      };
      if (next >= sequence) done([entry]);
      else readMore();
    });
  });
};

/** Each is a round trip to the server. */
const readsAtOnce = 256;

const noMessageCode = 10_037;
/** "wrong last sequence"; the second is that of a message whose sequence is still being written. */
const refusedCodes: ReadonlySet<number> = new Set([10_071, 10_164]);

interface Stored {
  readonly subject: string;
  readonly seq: number;
  /** Base64; absent if it is empty. */
  readonly data?: string;
}

interface ReadReply {
  readonly message?: Stored;
  readonly error?: { readonly err_code: number };
}

interface AppendReply {
  readonly seq: number;
  readonly error?: { readonly err_code: number };
}

const textOf = ({ data = '' }: Stored): string => Buffer.from(data, 'base64').toString();
const parse = (message: Stored): Entry => JSON.parse(textOf(message)) as Entry;

export interface JetStreamLogOptions {
  readonly log: number;
  /** How long an answer may take before the log counts as silent. */
  readonly timeoutMs: number;
}
