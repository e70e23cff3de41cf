import { setTimeout as sleep } from 'node:timers/promises';
import { type Detail, invalid, Problem, problem, type StoredEvent } from '@causeway/proto';
import {
  type Answer,
  byShard,
  type CallIdentity,
  type CarriedOut,
  CommitOutcomeUnknown,
  createBatch,
  createLedger,
  type Database,
  duplicateKey,
  type EarlierAnswers,
  isDuplicateRow,
  isLockedNoWait,
  isUnavailable,
  type Metrics,
  type Span,
  sendDeferred,
  type Tracer,
  type Trx,
  traced,
  transaction,
} from '@causeway/runtime';
import type { EventLog, WrittenCall } from '../events/event-log.ts';
import type { RecordIds } from '../store/ids.ts';
import { lockable } from '../store/store.ts';
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
import { companiesOf, type KnownReferences, lookUp, type Referring } from './references.ts';
import { readStatusesAhead } from './statuses.ts';
import { createKeysUnderWay, keysOf, stepsOf } from './steps.ts';

export interface ActionRunner {
  /**
   * Resolves after the commit.
   * @param deadlineMs `performance.now()` at which the caller gives up: the work is not started after that.
   * @param identity makes sure that the call is carried out once: if it was before, it gets the first answer. The
   * action's result is then an answer.
   * @throws Problem describing what is wrong with the call.
   */
  submit<Body, Result>(
    action: Action<Body, Result>,
    submission: Submission<Body>,
    deadlineMs: number,
    identity?: CallIdentity,
  ): Promise<Result>;
  /** The errors in the references of calls that are refused anyway, all of one company. */
  problems(referring: readonly Referring[]): Promise<readonly (readonly Detail[])[]>;
}

/**
 * Calls that arrive during a transaction wait and become the next group: a busy service writes large groups,
 * and an idle one makes no call wait. The calls of a group share their queries, event numbers and one commit;
 * on a sharded database, each shard's companies are a group of their own. A group that fails as a whole is
 * retried call by call, so that no call fails because of another. A call with an identity writes its row of
 * the ledger in the same transaction (services/runtime/idempotency).
 */
export const createRunner = (options: RunnerOptions): ActionRunner => {
  const { db, events, ids, now, metrics, tracer, maxGroupSize = 64 } = options;
  const ledger = createLedger();
  const underWay = createKeysUnderWay();

  const runGroup = async (group: readonly WaitingCall[]): Promise<void> => {
    const nowMs = performance.now();
    const live = group.filter((call) => call.deadlineMs > nowMs);
    for (const call of group) if (call.deadlineMs <= nowMs) call.reject(problem('timeout'));
    const parents = live.map(({ span }) => span);
    const attributes = { 'causeway.batch.size': live.length };
    const end = underWay.begin(live);
    await traced(tracer, 'write group', { kind: 'internal', parents, attributes }, () =>
      byShard(db, live, companyOf, (calls, own) => attempt(calls, own, 1)),
    ).finally(end);
    if (db.shards && live.length > 1) await sleep(gatherMs);
  };

  const attempt = async (
    calls: readonly WaitingCall[],
    own: Database<Tables>,
    tries: number,
  ): Promise<void> => {
    let refused: Results = new Map();
    try {
      const referring = calls.filter(({ action }) => !action.needsNoStatuses).map(referencesOf);
      const ahead = await readStatusesAhead(own, companiesOf(referring));
      for (const kind of calls.flatMap(newIdsOf)) ids[kind].prepare();
      const done = await transaction(own, async (trx) => {
        const group = { trx, now: now(), locked: new Map(), ids };
        const [first = [], ...rest] = stepsOf(calls);
        // BEGIN, the ledger, the first locks, the lookups and the events' numbers are one round trip.
        const answered = await ledger.lookUp(trx, calls.flatMap(identityOf), {
          now: group.now,
          all: tries > 1,
        });
        await lock(group, first);
        const known = await lookUp(trx, referring, ahead);
        const takeNumbers = () => events.takeNumbers(trx, calls.filter(mayCauseEvent).map(companyOf));
        let numbers = rest.length === 0 ? await takeNumbers() : undefined;
        await sendDeferred(trx);

        refused = refusals(calls, answered, known);
        const live = calls.filter((call) => !refused.has(call));
        const keys = live.flatMap(identityOf).filter(({ fingerprint }) => fingerprint);
        await ledger.claim(trx, keys, group.now);

        // In the order of arrival, in which events are numbered: the items of a batch in theirs.
        const changes: Changes = new Map(live.map((call) => [call, {}]));
        await write({ ...group, known }, first, refused, changes);
        for (const step of rest) {
          await lock(group, step);
          if (step === rest.at(-1)) numbers = await takeNumbers();
          await sendDeferred(trx);
          await write({ ...group, known }, step, refused, changes);
        }
        // The rest is one round trip with COMMIT.
        await ledger.record(trx, answersOf(changes), keys, group.now);
        const stored = await events.write(group, [...changes].map(writtenOf), numbers);
        return { changes, stored };
      });
      settle(refused);
      settle(resultsOf(done.changes, done.stored));
    } catch (error) {
      settle(refused);
      const rest = calls.filter((call) => !refused.has(call));
      if (rest.length > 0) await recover(rest, own, tries, error);
    }
  };

  const recover = async (
    group: readonly WaitingCall[],
    own: Database<Tables>,
    tries: number,
    error: unknown,
  ): Promise<void> => {
    const key = duplicateKey(error);
    const [only] = group;
    if (
      error instanceof CommitOutcomeUnknown &&
      tries < maxTries &&
      group.every(({ identity }) => identity)
    ) {
      // The ledger tells whether the calls were carried out.
      await attemptAgain(group, own, tries + 1, error);
    } else if (group.length === 1 && only) {
      const wasCarriedOut = isDuplicateRow(error, 'idempotency_keys');
      const taken =
        key === undefined || wasCarriedOut
          ? undefined
          : await only.action.onTaken?.(key, only.submission, own);
      if (taken) only.reject(taken);
      else if (key !== undefined && tries < maxTries) await attempt(group, own, tries + 1);
      else only.reject(isLockedNoWait(error) ? problem('idempotency_in_progress', error) : error);
    } else if (concernsAll(error)) {
      for (const call of group) call.reject(error);
    } else if (key !== undefined && tries === 1) {
      // Most likely another request created a record with the same external id; now it can be found.
      await attempt(group, own, 2);
    } else {
      for (const call of group) await attempt([call], own, 1);
    }
  };

  /** After a commit with an unknown outcome, no later error says that nothing was done. */
  const attemptAgain = (
    group: readonly WaitingCall[],
    own: Database<Tables>,
    tries: number,
    cause: CommitOutcomeUnknown,
  ) =>
    attempt(
      group.map((call) => ({
        ...call,
        identity: call.identity && { ...call.identity, again: true },
        reject: (error) => call.reject(error instanceof Problem ? error : cause),
      })),
      own,
      tries,
    );

  const batch = createBatch<WaitingCall>({
    name: 'record-actions',
    metrics,
    when: queueMicrotask,
    maxItems: maxGroupSize * (db.shards?.count() || 1),
    maxFlushes: maxGroups,
    overlapAfterMs: overlapAfterMs[db.shards ? 'vtgate' : 'plain'],
    mayOverlap: underWay.isFree,
    flush: runGroup,
  });

  return {
    submit: (action, submission, deadlineMs, identity) =>
      new Promise((resolve, reject) => {
        const span = tracer?.active()[0];
        const keys = keysOf(action, submission);
        batch.add({ action, submission, keys, deadlineMs, identity, span, resolve, reject } as never);
      }),
    problems: async (referring) => {
      const ahead = await readStatusesAhead(db, companiesOf(referring));
      const known = await transaction(db, async (trx) => {
        const found = await lookUp(trx, referring, ahead);
        await sendDeferred(trx);
        return found;
      });
      return referring.map(known.problems);
    },
  };
};

const maxTries = 5;

/**
 * One group at a time makes the largest groups: with two half groups at a time, creates fell from 4800 to 3700 a second. A whole
 * one starts at once; and as one that waits for a lock must not delay all others, any may after this long. vtgate takes longer.
 */
const overlapAfterMs = { plain: 50, vtgate: 300 };
/** For the requests that follow a group's answers: each statement is a call of vtgate's (e2e/scale-out/README.md). */
const gatherMs = 4;
const maxGroups = 4;

interface RunnerOptions {
  readonly db: Database<Tables>;
  readonly events: EventLog;
  readonly ids: RecordIds;
  readonly now: () => Date;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  readonly maxGroupSize?: number | undefined;
}

interface WaitingCall {
  readonly action: Action<unknown, unknown>;
  readonly submission: Submission<object>;
  readonly keys: readonly string[];
  readonly deadlineMs: number;
  readonly identity: CallIdentity | undefined;
  readonly span: Span | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Step = readonly WaitingCall[];
type Changes = Map<WaitingCall, Change | Problem>;
type Results = ReadonlyMap<WaitingCall, unknown>;

/** Locks the records that calls change, with the transaction's next statement. */
const lock = async (
  { trx, locked }: { readonly trx: Trx<Tables>; readonly locked: Map<Submission<unknown>, object> },
  step: Step,
): Promise<void> => {
  for (const name of lockNames) {
    const callers = new Map<string, Submission<unknown>>();
    const keys = step.flatMap(({ action, submission }): [number, string | number][] => {
      const value = action.locks(submission)[name];
      if (!value) return [];
      callers.set(`${submission.companyId}:${value}`, submission);
      return [[submission.companyId, value]];
    });
    if (keys.length === 0) continue;
    const { key, lock } = lockable[name];
    await lock(trx, keys, (rows) => {
      for (const row of rows) {
        const submission = callers.get(`${row.company_id}:${row[key]}`)!;
        locked.set(submission, { ...locked.get(submission), [name]: row });
      }
    });
  }
};

const lockNames = Object.keys(lockable) as (keyof typeof lockable)[];

const refusals = (calls: readonly WaitingCall[], answered: EarlierAnswers, known: KnownReferences): Results =>
  new Map(
    calls.flatMap((call): [WaitingCall, unknown][] => {
      const answer = call.identity && answered.get(call.identity);
      if (answer) return [[call, answer]];
      const problems = refusing(call.submission, known.problems(referencesOf(call)));
      return problems.length > 0 ? [[call, invalid(problems)]] : [];
    }),
  );

const write = async (group: Group, step: Step, refused: Results, changes: Changes): Promise<void> => {
  const live = step.filter((call) => !refused.has(call));
  const [first] = live;
  if (!first) return;
  const made = await first.action.change(group, live.map(submissionOf));
  live.forEach((call, at) => void changes.set(call, made[at]!));
};

/** The answers that belong in the ledger. */
const answersOf = (changes: Changes): readonly CarriedOut[] =>
  [...changes].flatMap(([call, change]) => {
    if (!call.identity || !isChange(change)) return [];
    const { status, body } = answerOf(call, change, []) as Answer;
    return [{ identity: call.identity, answer: { status, body } }];
  });

const resultsOf = (changes: Changes, stored: readonly (readonly StoredEvent[])[]): Results =>
  new Map(
    [...changes].map(([call, change], at) => [
      call,
      change instanceof Problem ? change : answerOf(call, change, stored[at] ?? []),
    ]),
  );

/** After the transaction: until it ends, the client's next request with the same key would be refused. */
const settle = (results: Results): void => {
  for (const [call, result] of results) {
    if (result instanceof Problem) call.reject(result);
    else call.resolve(result);
  }
};

const identityOf = ({ identity }: WaitingCall): readonly CallIdentity[] => (identity ? [identity] : []);
const submissionOf = ({ submission }: WaitingCall) => submission;
const companyOf = ({ submission }: WaitingCall): number => submission.companyId;
const newIdsOf = ({ action: { makes, mayCauseEvent } }: WaitingCall): readonly (keyof RecordIds)[] => [
  ...(makes ? [makes] : []),
  ...(mayCauseEvent ? (['events'] as const) : []),
];
const mayCauseEvent = ({ action }: WaitingCall): boolean => action.mayCauseEvent ?? false;

const referencesOf = ({ action, submission: { companyId, body } }: WaitingCall) => ({
  companyId,
  references: action.references?.(body as object) ?? {},
});

const writtenOf = ([call, change]: readonly [WaitingCall, Change | Problem]): WrittenCall => {
  const { companyId, origin } = call.submission;
  const { events = [], changed = false } = change instanceof Problem ? {} : change;
  return { companyId, origin, span: call.span, events, changed };
};

/** Errors that every call would also meet alone, or after which a retry could do the work twice. */
const concernsAll = (error: unknown): boolean =>
  error instanceof CommitOutcomeUnknown || isUnavailable(error);
