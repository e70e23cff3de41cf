import { invalid, Problem, type StoredEvent } from '@causeway/proto';
import {
  type Answer,
  type CallIdentity,
  type CarriedOut,
  type CommitOutcomeUnknown,
  companyRows,
  type EarlierAnswers,
  later,
  type Trx,
} from '@causeway/runtime';
import type { WrittenCall } from '../events/event-log.ts';
import type { RecordIds } from '../store/ids.ts';
import type { Waits } from '../store/rows.ts';
import { type LockableRow, lockable, newestOf } from '../store/store.ts';
import type { Tables } from '../tables.ts';
import {
  type Action,
  answerOf,
  type Change,
  type Group,
  isChange,
  refusing,
  type Submission,
} from './action.ts';
import type { KnownReferences } from './references.ts';

/** A call in a group of the runner, and the steps of its transaction. */
export interface WaitingCall {
  readonly action: Action<unknown, unknown>;
  readonly submission: Submission<object>;
  readonly keys: readonly string[];
  readonly deadlineMs: number;
  readonly identity: CallIdentity | undefined;
  /** A commit of the call whose outcome is unknown. */
  readonly unknown?: CommitOutcomeUnknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type Step = readonly WaitingCall[];
export type Changes = Map<WaitingCall, Change | Problem>;
export type Results = ReadonlyMap<WaitingCall, unknown>;

/**
 * Locks the records that calls change, with the transaction's next statement.
 * @returns finds the calls whose records were locked, once the statement has run.
 */
export const lock = async (
  {
    trx,
    locked,
    newest,
  }: {
    readonly trx: Trx<Tables>;
    readonly locked: Map<Submission<unknown>, object>;
    readonly newest: Map<string, Date>;
  },
  step: Step,
  waits: Waits,
  onBlocked: (call: WaitingCall) => void,
): Promise<() => void> => {
  const unlocked = new Map<WaitingCall, Set<string>>();
  for (const name of lockNames) {
    const callers = new Map<string, WaitingCall>();
    const keys = step.flatMap((call): [number, string | number][] => {
      const { companyId } = call.submission;
      const value = call.action.locks(call.submission)[name];
      if (!value) return [];
      callers.set(`${companyId}:${value}`, call);
      return [[companyId, value]];
    });
    if (keys.length === 0) continue;
    const { key, lock, timed } = lockable[name];
    const callerOf = (row: LockableRow) => callers.get(`${row.company_id}:${row[key]}`)!;
    await lock(
      trx,
      keys,
      waits,
      (rows) => {
        for (const row of rows) {
          const { submission } = callerOf(row);
          locked.set(submission, { ...locked.get(submission), [name]: row });
        }
      },
      (rows) => {
        for (const row of rows)
          unlocked.set(callerOf(row), (unlocked.get(callerOf(row)) ?? new Set()).add(name));
      },
    );
    if (!timed) continue;
    const companies = companyRows([...new Set(keys.map(([companyId]) => companyId))]);
    await later(trx, newestOf[timed](trx, companies), ({ rows }) => {
      for (const { company_id, newest_utc } of rows) newest.set(`${timed} ${company_id}`, newest_utc);
    });
  }
  return () => {
    for (const [call, found] of unlocked)
      for (const name of found) if (!(name in (locked.get(call.submission) ?? {}))) onBlocked(call);
  };
};

const lockNames = Object.keys(lockable) as (keyof typeof lockable)[];

/** @param later gets what is wrong with calls that have a condition, which is judged first. */
export const refusals = (
  calls: readonly WaitingCall[],
  answered: EarlierAnswers,
  references: KnownReferences,
  later: Map<Submission<unknown>, Problem>,
): Results =>
  new Map(
    calls.flatMap((call): [WaitingCall, unknown][] => {
      const answer = call.identity && answered.get(call.identity);
      if (answer) return [[call, answer]];
      const problems = refusing(call.submission, references.problems(referencesOf(call)));
      const refusal = call.submission.refused ?? (problems.length > 0 ? invalid(problems) : undefined);
      if (!refusal) return [];
      if (call.submission.condition === undefined) return [[call, refusal]];
      later.set(call.submission, refusal);
      return [];
    }),
  );

export const write = async (group: Group, step: Step, changes: Changes): Promise<void> => {
  const [first] = step;
  if (!first) return;
  const made = await first.action.change(group, step.map(submissionOf));
  step.forEach((call, at) => void changes.set(call, made[at]!));
};

/** The answers that belong in the ledger. */
export const answersOf = (changes: Changes): readonly CarriedOut[] =>
  [...changes].flatMap(([call, change]) => {
    if (!call.identity || !isChange(change)) return [];
    const { status, body } = answerOf(call, change, []) as Answer;
    return [{ identity: call.identity, answer: { status, body } }];
  });

export const resultsOf = (changes: Changes, stored: readonly (readonly StoredEvent[])[]): Results =>
  new Map(
    [...changes].map(([call, change], at) => [
      call,
      change instanceof Problem ? change : answerOf(call, change, stored[at] ?? []),
    ]),
  );

export const identityOf = ({ identity }: WaitingCall): readonly CallIdentity[] =>
  identity ? [identity] : [];
const submissionOf = ({ submission }: WaitingCall) => submission;
export const companyOf = ({ submission }: WaitingCall): number => submission.companyId;
export const newIdsOf = ({ action: { makes, mayCauseEvent } }: WaitingCall): readonly (keyof RecordIds)[] => [
  ...(makes ? [makes] : []),
  ...(mayCauseEvent ? (['events'] as const) : []),
];
export const mayCauseEvent = ({ action }: WaitingCall): boolean => action.mayCauseEvent ?? false;

export const referencesOf = ({ action, submission: { companyId, body } }: WaitingCall) => ({
  companyId,
  references: action.references?.(body as object) ?? {},
});

export const writtenOf = ([call, change]: readonly [WaitingCall, Change | Problem]): WrittenCall => {
  const { companyId, origin } = call.submission;
  const { events = [], changed = false } = change instanceof Problem ? {} : change;
  return { companyId, origin, events, changed };
};
