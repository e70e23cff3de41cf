import { limitEntrySubject, limitLogStream } from '@causeway/proto';
import { headers } from '@nats-io/transport-node';
import type { Ask } from './ask.ts';
import type { Totals } from './counts.ts';

export interface Entry {
  /** Its writer's term of ownership; null: the entry only names the store, or makes it a member. */
  readonly epoch: string | null;
  /** 0: the writer has only fenced the log off. */
  readonly number: number;
  readonly totals: Totals;
  /** The totals are the whole state, and the entry has replaced all earlier ones. */
  readonly whole?: true;
  /** Any gateway may take the counts over at once. */
  readonly released?: true;
  /** The store has not received everything yet, so it is no member. */
  readonly joining?: true;
}

export interface LogState {
  /** The name in the last entry; undefined if the store is new or was lost. */
  readonly store: string | undefined;
  /** The store has received everything that it must have. Only members count in a majority. */
  readonly member: boolean;
  /** 0: none. */
  readonly sequence: number;
  /** Null also if the writer has released the counts. */
  readonly epoch: string | null;
  readonly number: number;
}

/**
 * Every operation calls back exactly once and never throws; `undefined` means that no answer came, so it is
 * unknown what happened.
 */
export interface LimitLog {
  readState(done: (state: LogState | undefined) => void): void;
  /** From the last whole entry, as the log was in this state. */
  readEntries(state: LogState, done: (entries: readonly Entry[] | undefined) => void): void;
  /**
   * Appends only if the log's last entry is of this store and has this sequence, or with 0, if the log has no
   * entry. So nothing can follow an entry after another entry, of any store, has followed it. @returns the
   * new entry's sequence.
   */
  append(append: Append, done: (result: number | 'refused' | undefined) => void): void;
  /** Deletes a store's entries up to `sequence`, exclusive. */
  purge(store: string, sequence: number): void;
}

interface Append {
  readonly store: string;
  readonly entry: Uint8Array;
  readonly expectedSequence: number;
  readonly replaces: boolean;
}

/** Gives a log without entries a store with a new name: later appends can follow only in this store. */
export const nameStore = (log: LimitLog, store: string, done: (named: boolean) => void): void => {
  const entry = encodeEntry({ epoch: null, number: 0, joining: true }, []);
  log.append({ store, entry, expectedSequence: 0, replaces: false }, (result) =>
    done(typeof result === 'number'),
  );
};

const encoder = new TextEncoder();

/** @param totals texts of `encodeTotals`, or empty. */
export const encodeEntry = (
  { epoch, number, whole, released, joining }: Omit<Entry, 'totals'>,
  totals: readonly string[],
): Uint8Array => {
  const head = JSON.stringify({ epoch, number, whole, released, joining }).slice(0, -1);
  const present = totals.length === 1 ? totals[0]! : totals.filter((text) => text !== '').join();
  return encoder.encode(`${head},"totals":[${present}]}`);
};

/** Without the outer brackets, so that several texts can be joined. */
export const encodeTotals = (totals: Totals): string => JSON.stringify(totals).slice(1, -1);

/**
 * The JetStream stream `LIMIT_LOG_<log>` has one copy and so needs no leader. Reads come as JSON: a direct
 * read would deliver the stored message itself to any subject that its requester names, and a consumer would
 * have to be created by the leader of the cluster.
 */
export const openJetStreamLog = (ask: Ask, { log, timeoutMs }: JetStreamLogOptions): LimitLog => {
  const stream = limitLogStream(log);
  const allEntries = limitEntrySubject(log, '*');
  const readSubject = `$JS.API.STREAM.MSG.GET.${stream}`;

  /** @returns null if there is no message, undefined without an answer. */
  const read = (query: object, done: (message: StoredMessage | null | undefined) => void): void =>
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

type Read = (query: object, done: (message: StoredMessage | null | undefined) => void) => void;

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
    // The entry was replaced since, so it does not show the state that was asked for.
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

const readsAtOnce = 256;

const noMessageCode = 10_037;
/** "wrong last sequence"; the second is that of a message whose sequence is still being written. */
const refusedCodes: ReadonlySet<number> = new Set([10_071, 10_164]);

interface StoredMessage {
  readonly subject: string;
  readonly seq: number;
  /** Base64; absent if it is empty. */
  readonly data?: string;
}

interface ReadReply {
  readonly message?: StoredMessage;
  readonly error?: { readonly err_code: number };
}

interface AppendReply {
  readonly seq: number;
  readonly error?: { readonly err_code: number };
}

const textOf = ({ data = '' }: StoredMessage): string => Buffer.from(data, 'base64').toString();
const parse = (message: StoredMessage): Entry => JSON.parse(textOf(message)) as Entry;

interface JetStreamLogOptions {
  readonly log: number;
  readonly timeoutMs: number;
}
