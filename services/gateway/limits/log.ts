import type { Totals } from './counts.ts';

/** One message of a log. */
export interface Entry {
  /** Its writer's term of ownership; null: the entry only names the store, or makes it a member. */
  readonly epoch: string | null;
  /** The writer's latest append that the log has with this entry; 0: the writer has only fenced the log off. */
  readonly number: number;
  readonly totals: Totals;
  /** The totals are the whole state, and the entry has replaced all before it. */
  readonly whole?: true;
  /** The writer has released the counts: any gateway may take them over at once. */
  readonly released?: true;
  /** The store has not received everything yet that it must have, so it is no member. */
  readonly joining?: true;
}

/** What a log says about itself. */
export interface LogState {
  /** The store's name, which is that of its last entry; undefined if it has none, because it is new or was lost. */
  readonly store: string | undefined;
  /** Whether the store has received everything that it must have. Only members count in a majority. */
  readonly member: boolean;
  /** The sequence of the last entry; 0: none. */
  readonly sequence: number;
  /** The last entry's; null also if its writer has released the counts. */
  readonly epoch: string | null;
  /** The last entry's; 0: none. */
  readonly number: number;
}

/**
 * A log on one server. Every operation calls back exactly once and never throws; `undefined` means that no
 * answer came, so it is unknown what happened.
 */
export interface LimitLog {
  readState(done: (state: LogState | undefined) => void): void;
  /** Reads what the log said when it was in this state, from the last entry that is whole. */
  readEntries(state: LogState, done: (entries: readonly Entry[] | undefined) => void): void;
  /**
   * Appends if the log's last entry is this store's and still has this sequence, 0: if the log has no entry. So an entry
   * of any store refuses what was meant to follow the one before it. @returns the new entry's sequence.
   */
  append(append: Append, done: (result: number | 'refused' | undefined) => void): void;
  /** Deletes a store's entries before this one. */
  purge(store: string, sequence: number): void;
}

export interface Append {
  readonly store: string;
  readonly entry: Uint8Array;
  readonly expectedSequence: number;
  /** Deletes all earlier entries. */
  readonly replaces: boolean;
}

/** Gives a log without entries a store with a new name. What is appended then can only follow in this store. */
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

/** The totals as text without the outer brackets, so that several can be joined. */
export const encodeTotals = (totals: Totals): string => JSON.stringify(totals).slice(1, -1);
