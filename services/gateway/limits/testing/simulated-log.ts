import type { Entry, LimitLog, LogState } from '../log.ts';

/** With the rules of a NATS server. */
export interface Store {
  entries: readonly StoredEntry[];
  sequence: number;
  /** The names were lost at a start: the log looks as if it had no entry. */
  nameless: boolean;
}

interface StoredEntry {
  readonly store: string;
  readonly sequence: number;
  readonly entry: Entry;
}

export const emptyStore = (): Store => ({ entries: [], sequence: 0, nameless: false });

export const isMember = ({ entries }: Store): boolean => {
  const last = entries.at(-1);
  return last !== undefined && !last.entry.joining;
};

/** `run` executes the operation at the log, `answer` brings the result back. */
type Transmit = <Result>(operation: {
  readonly log: number;
  readonly run: () => Result;
  readonly answer: (result: Result | undefined) => void;
}) => void;

/** Breaking a rule shows that the protocol depends on it. */
export interface BrokenRules {
  /** Appends without looking at the expected sequence. */
  readonly unfenced?: boolean;
  /** Appends without looking at the entries of stores with other names. */
  readonly apart?: boolean;
  /** A lost store is a member at once. */
  readonly forgetful?: boolean;
  /** Answers an append without storing its counts. */
  readonly lying?: boolean;
}

const decoder = new TextDecoder();

export const simulatedLog = (
  log: number,
  store: () => Store,
  transmit: Transmit,
  { unfenced = false, apart = false, forgetful = false, lying = false }: BrokenRules = {},
): LimitLog => {
  const state = (): LogState => {
    const last = store().nameless ? undefined : store().entries.at(-1);
    if (!last && !forgetful) return { store: undefined, member: false, sequence: 0, epoch: null, number: 0 };
    return {
      store: last?.store ?? 'always',
      member: forgetful || isMember(store()),
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
          store()
            .entries.filter((one) => one.store === name && one.sequence <= sequence)
            .map((one) => one.entry),
        done,
      ),
    append: ({ store: name, entry, expectedSequence, replaces }, done) =>
      send((): number | 'refused' => {
        const { entries } = store();
        const last = apart ? entries.findLast((one) => one.store === name) : entries.at(-1);
        const follows =
          expectedSequence === 0 ? !last : last?.sequence === expectedSequence && last.store === name;
        if (!unfenced && !follows) return 'refused';
        const sequence = ++store().sequence;
        store().nameless = false;
        const written = JSON.parse(decoder.decode(entry)) as Entry;
        const fresh = { store: name, sequence, entry: lying ? { ...written, totals: [] } : written };
        store().entries = [...entries.filter((one) => !replaces || one.store !== name), fresh];
        return sequence;
      }, done),
    purge: (name, sequence) =>
      send(
        () => {
          const kept = store().entries.filter((one) => one.store !== name || one.sequence >= sequence);
          store().entries = kept;
        },
        () => {},
      ),
  };
};
