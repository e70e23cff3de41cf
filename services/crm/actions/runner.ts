import { setTimeout as sleep } from 'node:timers/promises';
import { type Detail, Problem, problem } from '@causeway/proto';
import {
  byShard,
  type CallIdentity,
  CommitOutcomeUnknown,
  createBatch,
  createLedger,
  type Database,
  duplicateKey,
  isDuplicateRow,
  isLockedNoWait,
  isLockWaitTimeout,
  isUnavailable,
  type Metrics,
  sendDeferred,
  type Trx,
  transaction,
} from '@causeway/runtime';
import type { EventLog } from '../events/event-log.ts';
import type { RecordIds } from '../store/ids.ts';
import type { Waits } from '../store/rows.ts';
import type { Tables } from '../tables.ts';
import type { Action, Submission } from './action.ts';
import { createCompanyQueues } from './company-queues.ts';
import {
  answersOf,
  type Changes,
  companyOf,
  identityOf,
  lock,
  mayCauseEvent,
  newIdsOf,
  type Results,
  referencesOf,
  refusals,
  resultsOf,
  type Step,
  type WaitingCall,
  write,
  writtenOf,
} from './group.ts';
import { companiesOf, lookUp, type Referring } from './references.ts';
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
 * on a sharded database, each shard's companies are a group of their own. A call with an identity writes its row of
 * the ledger in the same transaction (services/runtime/idempotency).
 *
 * A group of several companies waits for no record: a call whose records another transaction has locked leaves it and waits in
 * the queue of its company (`company-queues.ts`). So does every call of a group that fails as a whole, and the call that causes
 * the failure is then found alone.
 */
export const createRunner = (options: RunnerOptions): ActionRunner => {
  const { db, events, ids, now, metrics, maxGroupSize = 64 } = options;
  const ledger = createLedger();
  const underWay = createKeysUnderWay();
  /** Companies of groups that last longer than `slowMs`, and in how many. */
  const slow = new Map<number, number>();

  const runGroup = async (group: readonly WaitingCall[]): Promise<void> => {
    const live = withoutLate(group);
    const end = underWay.begin(live);
    const running = byShard(db, live, companyOf, (calls, own) => attempt(calls, own, 'fail', 1))
      .finally(end)
      .then((blocked) => queues.add(blocked.flat()));
    if (await isLonger(running, slowMs)) countSlow(live, running);
    else if (db.shards && live.length > 1) await sleep(gatherMs);
  };

  const countSlow = (calls: readonly WaitingCall[], running: Promise<void>): void => {
    const companies = [...new Set(calls.map(companyOf))];
    for (const companyId of companies) slow.set(companyId, (slow.get(companyId) ?? 0) + 1);
    void running.finally(() => {
      for (const companyId of companies) {
        const left = slow.get(companyId)! - 1;
        if (left > 0) slow.set(companyId, left);
        else slow.delete(companyId);
      }
    });
  };

  const withoutLate = (calls: readonly WaitingCall[]): readonly WaitingCall[] => {
    const nowMs = performance.now();
    for (const call of calls) if (call.deadlineMs <= nowMs) call.reject(problem('timeout'));
    return calls.filter((call) => call.deadlineMs > nowMs);
  };

  /** Tries all whose records are free, and if none is, waits for the first. The others have their turn before it has its next. */
  const runQueue = async (calls: readonly WaitingCall[]): Promise<readonly WaitingCall[]> => {
    const [step = [], ...later] = stepsOf(withoutLate(calls));
    const runAlone = async (some: readonly WaitingCall[], waits: Waits) =>
      (await byShard(db, some, companyOf, (part, own) => attempt(part, own, waits, 1))).flat();
    const blocked = step.length > 0 ? await runAlone(step, 'skip') : [];
    const [first, ...others] = blocked;
    const still = first ? await runAlone([first], 'wait') : [];
    return [...others, ...later.flat(), ...still];
  };

  const queues = createCompanyQueues<WaitingCall>({
    run: runQueue,
    refuse: (call) => call.reject(problem('service_unavailable')),
  });

  /** @returns the calls that need another attempt, as they did not get their locks or another call failed. */
  const attempt = async (
    calls: readonly WaitingCall[],
    shard: Database<Tables>,
    waits: Waits,
    tries: number,
  ): Promise<readonly WaitingCall[]> => {
    let refused: Results = new Map();
    const blocked = new Set<WaitingCall>();
    try {
      const referring = calls.filter(({ action }) => !action.needsNoStatuses).map(referencesOf);
      const ahead = await readStatusesAhead(shard, companiesOf(referring));
      for (const kind of calls.flatMap(newIdsOf)) ids[kind].prepare();
      const work = async (trx: Trx<Tables>) => {
        blocked.clear();
        const group = { trx, now: now(), locked: new Map(), newest: new Map(), refused: new Map(), ids };
        const [first = [], ...rest] = stepsOf(calls);
        const lockStep = (step: Step) => lock(group, step, waits, (call) => void blocked.add(call));
        // BEGIN, the ledger, the first locks, the lookups and the events' numbers are one round trip.
        const answered = await ledger.lookUp(trx, calls.flatMap(identityOf), {
          now: group.now,
          all: tries > 1,
        });
        const findBlocked = await lockStep(first);
        const references = await lookUp(trx, referring, { ahead, waits });
        const takeNumbers = () => events.takeNumbers(trx, calls.filter(mayCauseEvent).map(companyOf));
        let numbers = rest.length === 0 ? await takeNumbers() : undefined;
        await sendDeferred(trx);

        findBlocked();
        for (const call of calls) if (references.isBlocked(referencesOf(call))) blocked.add(call);
        refused = refusals(
          calls.filter((call) => !blocked.has(call)),
          answered,
          references,
          group.refused,
        );
        const isLive = (call: WaitingCall) => !refused.has(call) && !blocked.has(call);
        const keys = calls
          .filter(isLive)
          .flatMap(identityOf)
          .filter(({ fingerprint }) => fingerprint);
        await ledger.claim(trx, keys, group.now);

        // In the order of arrival, in which events are numbered: the items of a batch in theirs.
        const changes: Changes = new Map(calls.filter(isLive).map((call) => [call, {}]));
        await write({ ...group, known: references }, first.filter(isLive), changes);
        for (const step of rest) {
          const findBlocked = await lockStep(step);
          if (step === rest.at(-1)) numbers = await takeNumbers();
          await sendDeferred(trx);
          findBlocked();
          await write({ ...group, known: references }, step.filter(isLive), changes);
        }
        for (const call of blocked) changes.delete(call);
        // The rest is one round trip with COMMIT.
        await ledger.record(trx, answersOf(changes), keys, group.now);
        const stored = await events.write(group, [...changes].map(writtenOf), numbers);
        return { changes, stored };
      };
      const done = await transaction(shard, work, { retriesLockWaits: false });
      await settle(refused, shard);
      await settle(resultsOf(done.changes, done.stored), shard);
      return [...blocked];
    } catch (error) {
      await settle(refused, shard);
      const rest = calls.filter((call) => !refused.has(call));
      return rest.length > 0 ? await recover(rest, shard, { waits, tries }, error) : [];
    }
  };

  /** @returns the calls that need another attempt. */
  const recover = async (
    calls: readonly WaitingCall[],
    shard: Database<Tables>,
    { waits, tries }: { readonly waits: Waits; readonly tries: number },
    error: unknown,
  ): Promise<readonly WaitingCall[]> => {
    const key = duplicateKey(error);
    const [first] = calls;
    const mayTryAgain = tries < maxTries;
    if (error instanceof CommitOutcomeUnknown && mayTryAgain && calls.every(({ identity }) => identity))
      // The ledger tells whether the calls were carried out.
      return attempt(calls.map(afterUnknown(error)), shard, waits, tries + 1);
    if (concernsAll(error)) {
      for (const call of calls) call.reject(error);
      return [];
    }
    if (isLockedNoWait(error) && waits === 'fail') return attempt(calls, shard, 'skip', tries);
    if (isLockWaitTimeout(error)) {
      if (waits === 'skip') queues.keepApart(companyOf(first!));
      return calls;
    }
    // Most likely another request created a record with the same external id; now it can be found.
    if (calls.length > 1 && key !== undefined && tries === 1) return attempt(calls, shard, waits, 2);
    if (calls.length > 1 || waits !== 'wait') return calls;
    const { action, submission, reject } = first!;
    const wasCarriedOut = isDuplicateRow(error, 'idempotency_keys');
    const taken =
      key === undefined || wasCarriedOut ? undefined : await action.onTaken?.(key, submission, shard);
    if (!taken && key !== undefined && mayTryAgain) return attempt(calls, shard, waits, tries + 1);
    if (taken) await settle(new Map([[first!, taken]]), shard);
    else reject(isLockedNoWait(error) ? problem('idempotency_in_progress', error) : error);
    return [];
  };

  /** After the transaction: until it ends, the client's next request with the same key would be refused. */
  const settle = async (results: Results, shard: Database<Tables>): Promise<void> => {
    for (const [call, result] of results) {
      const { identity, unknown } = call;
      if (!(result instanceof Problem)) call.resolve(result);
      else if (!unknown) call.reject(result);
      else {
        const earlier = await ledger.find(shard, identity!, now()).catch(() => undefined);
        if (earlier === undefined || earlier instanceof Problem) call.reject(unknown);
        else call.resolve(earlier);
      }
    }
  };

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
        const keys = keysOf(action, submission);
        const call = { action, submission, keys, deadlineMs, identity, resolve, reject } as never;
        if (slow.has(submission.companyId) || queues.concerns(call)) queues.add([call]);
        else batch.add(call);
      }),
    problems: async (referring) => {
      const ahead = await readStatusesAhead(db, companiesOf(referring));
      const references = await transaction(db, async (trx) => {
        const found = await lookUp(trx, referring, { ahead });
        await sendDeferred(trx);
        return found;
      });
      return referring.map(references.problems);
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
/** Others need not wait for a group that lasts as long: it waits for a lock that no call names. */
const slowMs = 500;

interface RunnerOptions {
  readonly db: Database<Tables>;
  readonly events: EventLog;
  readonly ids: RecordIds;
  readonly now: () => Date;
  readonly metrics: Metrics;
  readonly maxGroupSize?: number | undefined;
}

/** After a commit with an unknown outcome, no later error says that nothing was done. */
const afterUnknown =
  (cause: CommitOutcomeUnknown) =>
  (call: WaitingCall): WaitingCall => ({
    ...call,
    identity: call.identity && { ...call.identity, again: true },
    unknown: cause,
    reject: () => call.reject(cause),
  });

const isLonger = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  Promise.race([work.then(() => false), sleep(ms, true, { ref: false })]);

/** Errors that every call would also meet alone, or after which a retry could do the work twice. */
const concernsAll = (error: unknown): boolean =>
  error instanceof CommitOutcomeUnknown || isUnavailable(error);
