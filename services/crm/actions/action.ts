import {
  type BodyOf,
  type Detail,
  invalid,
  type KeyOperation,
  type Problem,
  parseId,
  readCall,
  type StoredEvent,
} from '@causeway/proto';
import {
  type Answer,
  type Call,
  each,
  type Handler,
  identify,
  laneHandler,
  type Trx,
} from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { ActionsContext } from '../context.ts';
import type { NewEvent } from '../events/event-log.ts';
import type { Tables } from '../tables.ts';
import type { Known, References } from './references.ts';

/**
 * The handler of an operation: parses the body and submits it to the runner, which groups it with other calls.
 * @param what the kind of record in the path, for the text of the 404; null if the path has none.
 */
export const handleAction = <O extends KeyOperation>(
  { runner }: ActionsContext,
  operation: O,
  what: string | null,
  action: Action<BodyOf<O>, Answer>,
): Handler<O['id']> =>
  laneHandler(
    operation,
    each(async (call) => {
      const body = await parse(operation, call, async (valid) => {
        const references = action.references?.(valid as Partial<BodyOf<O>>);
        return references ? runner.problems({ companyId: call.tenant, references }) : [];
      });
      const recordId = what === null ? 0 : parseId(call.params[0], what);
      const submission = { companyId: call.tenant, body, recordId };
      return runner.submit(action, submission, call.deadlineMs, identify(call));
    }),
  );

/**
 * Returns the body once query and body are valid. A refusal names every error at once, so references are checked even
 * beside ill-formed fields.
 * @throws Problem
 */
const parse = async <O extends KeyOperation>(
  operation: O,
  call: Call,
  problemsOf: (validFields: object) => Promise<readonly Detail[]>,
): Promise<BodyOf<O>> => {
  const { body, problems, extra, validFields } = readCall(operation, call);
  if (body !== undefined && problems.length === 0) return body;
  throw invalid([...problems, ...(await problemsOf(validFields()))], extra);
};

/** One call of an action. */
export interface Submission<Body> {
  readonly companyId: number;
  readonly body: Body;
  /** The record of the path; 0 where the path names none. */
  readonly recordId: number;
}

/** A write that handles many calls at once. */
export type Action<Body, Result> = ActionRules<Body> & (Runs<Body, Result> | LocksFirst<Body, Result>);

interface ActionRules<Body> {
  /**
   * Names of what the call changes: the record, the external id. Calls that share a name run one after the other, in
   * order of arrival.
   */
  readonly turns: (submission: Submission<Body>) => readonly string[];
  /**
   * The records that the body refers to, looked up for a whole group. The body may lack fields.
   */
  readonly references?: (body: Partial<Body>) => References;
  /**
   * The problem to answer when another record holds the unique key `key`. Undefined: a retry will find that record.
   */
  readonly onTaken: (
    key: string,
    submission: Submission<Body>,
    db: Kysely<Tables>,
  ) => Promise<Problem | undefined>;
}

/** Handles calls that share no name, in as few statements as possible. */
type Run<Body, Result> = (
  group: Group,
  submissions: readonly Submission<Body>[],
) => Promise<readonly Outcome<Result>[]>;

interface Runs<Body, Result> {
  readonly run: Run<Body, Result>;
}

interface LocksFirst<Body, Result> {
  /**
   * Defers the statements that lock the calls' records, so that they are sent together with the group's lookups.
   * @returns the function that then handles those of the calls whose references are right.
   */
  readonly lock: (trx: Trx<Tables>, submissions: readonly Submission<Body>[]) => Promise<Run<Body, Result>>;
}

/** The transaction that an action runs in. */
export interface Group {
  readonly trx: Trx<Tables>;
  readonly known: Known;
  /** The timestamp of everything the transaction writes. */
  readonly now: Date;
}

/** The result of one call. A refused call has written nothing. */
export interface Outcome<Result> {
  /** A function is called after the commit. */
  readonly result: Result | Problem | ((events: readonly StoredEvent[]) => Result);
  readonly events?: readonly NewEvent[];
}
