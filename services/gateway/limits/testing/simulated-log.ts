import type { Entry, LimitLog, LogState } from '../log.ts';

/** What a simulated log stores, with the rules of a NATS server. */
export interface Store {
  name: string | undefined;
  readonly members: Set<string>;
  /** By the name of the store for which they were written. */
  readonly entries: Map<string, { readonly sequence: number; readonly entry: Entry }[]>;
  sequence: number;
}

export const emptyStore = (): Store => ({
  name: undefined,
  members: new Set(),
  entries: new Map(),
  sequence: 0,
});

/** Takes an operation that is on its way to a log: `run` executes it there, `answer` brings the result back. */
export type Transmit = <Result>(operation: {
  readonly log: number;
  readonly run: () => Result;
  readonly answer: (result: Result | undefined) => void;
}) => void;

/** Rules that a log breaks, to show that the protocol depends on them. */
export interface Broken {
  /** Appends without looking at the expected sequence. */
  readonly unfenced?: boolean;
  /** A lost store is a member at once. */
  readonly forgetful?: boolean;
  /** Answers an append without storing its counts. */
  readonly lying?: boolean;
}

const decoder = new TextDecoder();

/** One of the logs as a gateway reaches it. */
export const simulatedLog = (
  log: number,
  store: () => Store,
  transmit: Transmit,
  { unfenced = false, forgetful = false, lying = false }: Broken = {},
): LimitLog => {
  const entriesOf = (name: string) => {
    const { entries } = store();
    if (!entries.has(name)) entries.set(name, []);
    return entries.get(name)!;
  };
  const state = (): LogState => {
    if (forgetful) {
      store().name ??= 'always';
      store().members.add(store().name!);
    }
    const { name, members } = store();
    const last = name === undefined ? undefined : entriesOf(name).at(-1);
    return {
      store: name,
      member: name !== undefined && members.has(name),
      sequence: last?.sequence ?? 0,
      epoch: last && !last.entry.released ? last.entry.epoch : null,
      number: last?.entry.number ?? 0,
    };
  };
  const send = <Result>(run: () => Result, answer: (result: Result | undefined) => void): void =>
    transmit({ log, run, answer });

  return {
    readState: (done) => send(state, done),
    readEntries: ({ store: name, sequence }, done) =>
      send(
        () =>
          entriesOf(name ?? '')
            .filter((one) => one.sequence <= sequence)
            .map((one) => one.entry),
        done,
      ),
    append: ({ store: name, entry, expectedSequence, replaces }, done) =>
      send((): number | 'refused' => {
        const entries = entriesOf(name);
        if (!unfenced && (entries.at(-1)?.sequence ?? 0) !== expectedSequence) return 'refused';
        const sequence = ++store().sequence;
        if (replaces) entries.length = 0;
        const written = JSON.parse(decoder.decode(entry)) as Entry;
        entries.push({ sequence, entry: lying ? { ...written, totals: [] } : written });
        return sequence;
      }, done),
    nameStore: (name, done) =>
      send(
        () => {
          if (store().name !== undefined) return false;
          store().name = name;
          return true;
        },
        (named) => done(named === true),
      ),
    addMember: (name, done) =>
      send(
        () => {
          store().members.add(name);
          return true;
        },
        (added) => done(added === true),
      ),
  };
};
