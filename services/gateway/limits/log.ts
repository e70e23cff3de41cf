import type { Totals } from './counts.ts';

/** One message of a log. */
export interface Entry {
  /** Its writer's term of ownership. */
  readonly epoch: string;
  /** The writer's latest append that the log has with this entry; 0: the writer has only fenced the log off. */
  readonly number: number;
  readonly totals: Totals;
  /** The totals are the whole state, and the entry has replaced all before it. */
  readonly whole?: true;
  /** The writer has released the counts: any gateway may take them over at once. */
  readonly released?: true;
}

/** What a log says about itself. */
export interface LogState {
  /** The store's name; undefined if the store is new. A store that was lost comes back without a name. */
  readonly store: string | undefined;
  /** Whether the store has received everything that it must have. Only members count in a majority. */
  readonly member: boolean;
  /** The sequence of the last entry; 0: none. */
  readonly sequence: number;
  /** The last entry's; null: there is none, or its writer has released the counts. */
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
  /** Appends if the store's last entry is still the one with this sequence. @returns the new entry's sequence. */
  append(append: Append, done: (result: number | 'refused' | undefined) => void): void;
  /** Names a store that has no name. */
  nameStore(store: string, done: (named: boolean) => void): void;
  /** Makes a store a member. Changes nothing if the log has another store by now. */
  addMember(store: string, done: (added: boolean) => void): void;
}

export interface Append {
  readonly store: string;
  readonly entry: Uint8Array;
  readonly expectedSequence: number;
  /** Deletes all earlier entries. */
  readonly replaces: boolean;
}

/**
 * Appends to a store that is surely still there. An entry can follow another only in the same store, but an append that
 * expects none would also fit a store that has just been lost, so then the log is asked for its store again.
 */
export const appendSurely = (
  log: LimitLog,
  append: Append,
  done: (result: number | 'refused' | undefined) => void,
): void =>
  log.append(append, (result) => {
    if (typeof result !== 'number' || append.expectedSequence > 0) done(result);
    else
      log.readState((state) =>
        done(state?.store === append.store && state.sequence === result ? result : undefined),
      );
  });

const encoder = new TextEncoder();

/** @param totals texts of `encodeTotals`, or empty. */
export const encodeEntry = (
  { epoch, number, whole, released }: Omit<Entry, 'totals'>,
  totals: readonly string[],
): Uint8Array => {
  const flags = `${whole ? ',"whole":true' : ''}${released ? ',"released":true' : ''}`;
  const present = totals.length === 1 ? totals[0]! : totals.filter((text) => text !== '').join();
  return encoder.encode(`{"epoch":"${epoch}","number":${number},"totals":[${present}]${flags}}`);
};

/** The totals as text without the outer brackets, so that several can be joined. */
export const encodeTotals = (totals: Totals): string => JSON.stringify(totals).slice(1, -1);
