import {
  type Condition,
  type Detail,
  entityTag,
  nothingToUpdate,
  Problem,
  type StoredEvent,
  weakVersion,
} from '@causeway/proto';
import { type Answer, json, type Trx } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { NewEvent } from '../events/event-log.ts';
import type { RecordIds } from '../store/ids.ts';
import type { LockableRows, TimedTable } from '../store/store.ts';
import type { Tables } from '../tables.ts';
import type { KnownReferences, References } from './references.ts';

export interface Submission<Body> {
  readonly companyId: number;
  readonly body: Body;
  /** The record of the path; 0 where the path names none. */
  readonly recordId: number;
  /** Of the record that is updated, where no id names it. */
  readonly externalId?: string | undefined;
  /** What the body lacks if there is no record to update. */
  readonly incomplete?: Problem | undefined;
  /** Who caused it (contract, "Changes"). */
  readonly origin: string;
  readonly condition?: Condition | undefined;
  /** What is wrong with the body, if the condition holds. Without a condition, such a call is not submitted. */
  readonly refused?: Problem | undefined;
  /** The fields that were left out of a batch's item. Without it, a field that is not valid refuses the call. */
  readonly dropped?: Detail[];
}

type MetRecord<Id extends string> = Readonly<Record<Id, number>> & { readonly version: number };

/**
 * @param met the record that the call would change, by the name of its id; undefined if a create found none.
 * @returns the problem if the caller's condition does not hold (contract, "Versions").
 */
export const brokenCondition = <Id extends string>(
  condition: Condition | undefined,
  id: Id,
  met: MetRecord<Id> | undefined,
): Problem | undefined => {
  if (condition === undefined) return undefined;
  if (condition === 'absent') return met && new Problem({ code: 'already_exists', extra: { [id]: met[id] } });
  if (!met) return nothingToUpdate();
  if (condition === 'present' || condition.includes(met.version)) return undefined;
  return new Problem({
    code: 'version_mismatch',
    ...(condition.includes(weakVersion) && {
      publicMessage: 'a weak tag (W/) in If-Match matches no version; send the ETag without the W/',
    }),
    extra: { version: met.version },
  });
};

/** The problem of a condition that does not hold, or else what is wrong with the body of a call that has a condition. */
export const refusalOf = <Id extends string>(
  { refused }: Pick<Group, 'refused'>,
  one: Submission<unknown>,
  ...met: [id: Id, met: MetRecord<Id> | undefined]
): Problem | undefined =>
  brokenCondition(one.condition, ...met) ?? refused.get(one) ?? (met[1] ? undefined : one.incomplete);

/** An answer with the version that the record has now (contract, "Versions"). */
export const versionedAnswer = (
  status: number,
  body: object,
  { version }: { readonly version: number },
): Answer => ({
  ...json(status, { ...body, version }),
  headers: { ETag: entityTag(version) },
});

/** Leaves out the fields with these problems, where the submission allows it. @returns the problems that refuse it */
export const refusing = (
  { body, dropped }: Submission<object>,
  problems: readonly Detail[],
): readonly Detail[] =>
  problems.filter((problem) => {
    if (!dropped || problem.code === 'empty_update') return true;
    delete (body as Record<string, unknown>)[problem.field];
    // A group that is retried meets a read-only field again.
    if (!dropped.some(({ field }) => field === problem.field)) dropped.push(problem);
    return false;
  });

/** The values of unique keys, by the name of the key in `lockable`. */
type KeyValues = { readonly [Name in keyof LockableRows]?: string | number | null | undefined };

export interface Action<Body, Result, Changed extends Change = Change> {
  /** The records that the call changes. Those that exist are locked, and are in `group.locked`. */
  readonly locks: (submission: Submission<Body>) => KeyValues;
  /** Unique keys that the call gives to its record. */
  readonly takes?: (submission: Submission<Body>) => KeyValues;
  /** The records that the body refers to, looked up for a whole group. The body may lack fields. */
  readonly references?: (body: Partial<Body>) => References;
  /** It uses no `group.known.statuses`, so a group of such calls reads none. */
  readonly needsNoStatuses?: true;
  /** What calls may insert: its ids are then taken during the first locks. */
  readonly makes?: Exclude<keyof RecordIds, 'events'>;
  /** Whether calls may cause an event, whose number is then taken with the locks. Only that is quicker. */
  readonly mayCauseEvent?: boolean;
  /** Writes the changes of calls that have no key in common, in as few statements as possible. */
  readonly change: (
    group: Group,
    submissions: readonly Submission<Body>[],
  ) => Promise<readonly (Changed | Problem)[]>;
  answer(change: Changed, events: readonly StoredEvent[]): Result;
  /** The problem if another record holds the unique key. Undefined: a retry will find that record. */
  readonly onTaken?: (
    key: string,
    submission: Submission<Body>,
    db: Kysely<Tables>,
  ) => Promise<Problem | undefined>;
}

export interface Group {
  readonly trx: Trx<Tables>;
  readonly now: Date;
  readonly known: KnownReferences;
  readonly locked: LockedRecords;
  readonly ids: RecordIds;
  /** The latest `updated_utc` of the locked records' companies, by table and company. */
  readonly newest: ReadonlyMap<string, Date>;
  /** What is wrong with the bodies of calls that have a condition. */
  readonly refused: ReadonlyMap<Submission<unknown>, Problem>;
}

/**
 * After every time that a reader of the list can have seen, whichever clocks gave those: a change of a record that was on
 * an earlier page comes again (contract, "Reading records").
 */
export const timeOfChange = (
  { now, newest }: Pick<Group, 'now' | 'newest'>,
  table: TimedTable,
  { companyId }: Pick<Submission<unknown>, 'companyId'>,
): Date => laterOf(now, newest.get(`${table} ${companyId}`));

/** @returns `now`, or a millisecond after what is not before it. */
export const laterOf = (now: Date, earlier: Date | undefined): Date =>
  earlier && earlier >= now ? new Date(earlier.getTime() + 1) : now;

type LockedRecords = ReadonlyMap<
  Submission<unknown>,
  { readonly [Name in keyof LockableRows]?: LockableRows[Name] }
>;

/** A refused call has written nothing. */
export interface Change {
  /** Inserted. */
  readonly isNew?: boolean;
  readonly events?: readonly NewEvent[];
  /** Whether a value of a record changed. */
  readonly changed?: boolean;
}

export const isChange = <Changed extends Change>(one: Changed | Problem): one is Changed =>
  !(one instanceof Problem);

/** The answer that is stored tells what was left out of an item, because a repetition could not find out. */
export const answerOf = (
  {
    action,
    submission: { dropped = [] },
  }: { readonly action: Action<unknown, unknown>; readonly submission: Submission<unknown> },
  change: Change,
  events: readonly StoredEvent[],
): unknown => {
  const answer = action.answer(change, events);
  if (dropped.length === 0) return answer;
  const { status, body } = answer as Answer;
  return json(status, { ...JSON.parse(String(body)), dropped });
};
