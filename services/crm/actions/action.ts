import type { Problem, StoredEvent } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { NewEvent } from '../events/event-log.ts';
import type { Tables } from '../tables.ts';
import type { Known, References } from './references.ts';

/** What one call asks of an action. */
export interface Submission<Body> {
  readonly companyId: number;
  readonly body: Body;
  /** The record of the path; 0 where the path names none. */
  readonly recordId: number;
}

/** A write that is done for many calls at once. */
export interface Action<Body, Result> {
  /**
   * What the call changes, by name: the record, the external id. Calls with a name in common are done one
   * after the other, in the order in which they came.
   */
  readonly turns: (submission: Submission<Body>) => readonly string[];
  /** What it refers to; looked up for a whole group before its transaction. The body may lack fields. */
  readonly references?: (body: Partial<Body>) => References;
  /** Does the work for calls that have no name in common, in as few statements as it can. */
  readonly run: (
    group: Group,
    submissions: readonly Submission<Body>[],
  ) => Promise<readonly Outcome<Result>[]>;
  /**
   * What it means for a call that another transaction holds the unique key `key`. Undefined: a new attempt
   * will find the other's record.
   */
  readonly onTaken: (key: string, body: Body) => Problem | undefined;
}

/** The transaction that an action's work is part of. */
export interface Group {
  readonly trx: Trx<Tables>;
  readonly known: Known;
  /** The time of everything that is written in it. */
  readonly now: Date;
}

/** What became of one call. One that was refused has written nothing. */
export interface Outcome<Result> {
  readonly result: Result | Problem | ((events: readonly StoredEvent[]) => Result);
  readonly events?: readonly NewEvent[];
}
