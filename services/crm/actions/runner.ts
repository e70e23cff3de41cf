import { type Detail, invalid, Problem, problem, type StoredEvent } from '@causeway/proto';
import {
  type Answer,
  byShard,
  type CarriedOut,
  CommitOutcomeUnknown,
  createBatch,
  createLedger,
  type Database,
  DatabaseUnavailable,
  duplicateKey,
  type Identity,
  isConnectionLost,
  isDuplicateRow,
  isLockedNoWait,
  type Metrics,
  type Span,
  sendDeferred,
  type Tracer,
  type Trx,
  traced,
  transaction,
} from '@causeway/runtime';
import type { EventLog } from '../events/event-log.ts';
import { crmMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import type { Action, Outcome, Submission } from './action.ts';
import { companiesOf, type Known, lookUp, type Referring } from './references.ts';
import { createStatusReader } from './statuses.ts';

/** Runs record actions, many calls in one transaction. */
export interface ActionRunner {
  /**
   * Resolves after the commit.
   * @param deadlineMs `performance.now()` at which the caller gives up: the work is not started after that.
   * @param identity by it, the call is carried out once, and gets the first answer if it was carried out before. Its
   * result is an answer.
   * @throws Problem describing what is wrong with the call.
   */
  submit<Body, Result>(
    action: Action<Body, Result>,
    submission: Submission<Body>,
    deadlineMs: number,
    identity?: Identity,
  ): Promise<Result>;
  /** The errors in the references of a call that is refused anyway. */
  problems(referring: Referring): Promise<readonly Detail[]>;
}

/**
 * Calls that arrive during a transaction wait and become the next group: a busy service writes large groups, and an
 * idle one makes no call wait. On a sharded database the companies of each shard are a group of their own. The calls of a group share their queries, their event numbers and one commit; calls
 * that concern the same record run in consecutive waves.
 *
 * A group that fails as a whole is retried call by call, so that no call fails because of another one.
 *
 * A call with an identity writes its row of the ledger in the same transaction (services/runtime/idempotency).
 */
export const createRunner = (options: RunnerOptions): ActionRunner => {
  const { db, events, now, metrics, tracer, maxGroupSize = 64 } = options;
  const statuses = createStatusReader();
  const ledger = createLedger();
  const split = metrics.counter(crmMetrics.crm_write_groups_split_total).cell();

  const runGroup = async (group: readonly Waiting[]): Promise<void> => {
    const nowMs = performance.now();
    const live = group.filter((call) => call.deadlineMs > nowMs);
    for (const call of group) if (call.deadlineMs <= nowMs) call.reject(problem('timeout'));
    const parents = live.map(({ span }) => span);
    const attributes = { 'causeway.batch.size': live.length };
    await traced(tracer, 'write group', { kind: 'internal', parents, attributes }, () =>
      byShard(
        db,
        live,
        ({ submission }) => submission.companyId,
        (calls, own) => attempt(calls, own, 1),
      ),
    );
  };

  const attempt = async (group: readonly Waiting[], own: Database<Tables>, tries: number): Promise<void> => {
    let refused: ReadonlyMap<Waiting, unknown> = new Map();
    try {
      const ahead = await statuses.readAhead(own, companiesOf(group.map(submissionOf)));
      const { done, stored } = await transaction(own, async (trx) => {
        const started = now();
        const done = new Map<Waiting, Outcome<unknown>>();
        let known: Known | undefined;
        let accepted: readonly Waiting[] = [];
        let claimed: readonly Identity[] = [];
        const answered = await ledger.lookUp(trx, group.flatMap(identityOf), {
          now: started,
          all: tries > 1,
        });
        for (const wave of wavesOf(group, ({ action, submission }) => action.turns(submission)))
          for (const [action, members] of Map.groupBy(wave, (call) => call.action)) {
            const locks = 'lock' in action;
            const run = locks ? await action.lock(trx, members.map(submissionOf)) : action.run;
            if (!known) {
              // BEGIN, the first locks and the lookups are one round trip.
              known = await lookUp(trx, statuses, group.map(referencesOf), ahead);
              refused = notToCarryOut(group, answered(), known);
              accepted = group.filter((call) => !refused.has(call));
              claimed = accepted.flatMap(identityOf).filter(({ fingerprint }) => fingerprint);
              await ledger.claim(trx, claimed, started);
            } else if (locks) await sendDeferred(trx);
            const live = members.filter((call) => accepted.includes(call));
            if (live.length === 0) continue;
            const outcomes = await run({ trx, known, now: started }, live.map(submissionOf));
            live.forEach((call, at) => void done.set(call, outcomes[at]!));
          }
        const written = await events.write({ trx, now: started }, [...done].map(eventsOf));
        await ledger.record(trx, await answersOf(trx, done), claimed, started);
        return { done, stored: written };
      });
      settle(refused);
      settle(settled(done, stored()));
    } catch (error) {
      settle(refused);
      const rest = group.filter((call) => !refused.has(call));
      if (rest.length > 0) await recover(rest, own, tries, error);
    }
  };

  const recover = async (
    group: readonly Waiting[],
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
        key === undefined || wasCarriedOut ? undefined : await only.action.onTaken(key, only.submission, own);
      if (taken) only.reject(taken);
      else if (key !== undefined && tries < maxTries) await attempt(group, own, tries + 1);
      else only.reject(isLockedNoWait(error) ? problem('idempotency_in_progress', error) : error);
    } else if (concernsAll(error)) {
      for (const call of group) call.reject(error);
    } else if (key !== undefined && tries === 1) {
      // Most likely another request created a record with the same external id; now it can be found.
      await attempt(group, own, 2);
    } else {
      split.value++;
      for (const call of group) await attempt([call], own, 1);
    }
  };

  /** After a commit with an unknown outcome, no later error says that nothing was done. */
  const attemptAgain = (
    group: readonly Waiting[],
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

  const batch = createBatch<Waiting>({
    name: 'record-actions',
    metrics,
    when: queueMicrotask,
    maxItems: maxGroupSize,
    maxFlushes: maxGroups,
    overlapAfterMs,
    flush: runGroup,
  });

  return {
    submit: (action, submission, deadlineMs, identity) =>
      new Promise((resolve, reject) => {
        const span = tracer?.active()[0];
        batch.add({ action, submission, deadlineMs, identity, span, resolve, reject } as never);
      }),
    problems: async (referring) => {
      const ahead = await statuses.readAhead(db, [referring.companyId]);
      const known = await transaction(db, (trx) => lookUp(trx, statuses, [referring], ahead));
      return known.problems(referring);
    },
  };
};

const maxTries = 5;

/**
 * One group at a time makes the largest groups: with two at a time, creates fell from 4800 to 3700 a second. But a
 * group that waits for a lock must not delay all others, so the next may start after this long.
 */
const overlapAfterMs = 50;
/** Concurrent transactions, once the first is slow. */
const maxGroups = 4;

interface RunnerOptions {
  readonly db: Database<Tables>;
  readonly events: EventLog;
  readonly now: () => Date;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  /** Limits how long a transaction holds its locks. */
  readonly maxGroupSize?: number | undefined;
}

interface Waiting {
  readonly action: Action<unknown, unknown>;
  readonly submission: Submission<unknown>;
  readonly deadlineMs: number;
  readonly identity: Identity | undefined;
  /** The caller's span, if the call is traced. */
  readonly span: Span | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls that were carried out before, with their answers, and those with errors in their references. */
const notToCarryOut = (
  group: readonly Waiting[],
  answered: ReadonlyMap<Identity, Answer | Problem>,
  known: Known,
): ReadonlyMap<Waiting, unknown> =>
  new Map(
    group.flatMap((call): [Waiting, unknown][] => {
      const answer = call.identity && answered.get(call.identity);
      if (answer) return [[call, answer]];
      const problems = known.problems(referencesOf(call));
      return problems.length > 0 ? [[call, invalid(problems)]] : [];
    }),
  );

/**
 * Gives calls their results. Call it after the transaction: until it ends, it holds the rows of their
 * `Idempotency-Key`s, and the client's next request with the same key would be refused.
 */
const settle = (results: Iterable<readonly [Waiting, unknown]>): void => {
  for (const [call, result] of results) {
    if (result instanceof Problem) call.reject(result);
    else call.resolve(result);
  }
};

const identityOf = ({ identity }: Waiting): readonly Identity[] => (identity ? [identity] : []);

/** The answers that belong in the ledger; without events, ids may not be known before a further round trip. */
const answersOf = async (
  trx: Trx<Tables>,
  done: ReadonlyMap<Waiting, Outcome<unknown>>,
): Promise<readonly CarriedOut[]> => {
  const outcomes = [...done].filter(([{ identity }, { result }]) => identity && !(result instanceof Problem));
  const needsIds = outcomes.some(([, { result }]) => typeof result === 'function');
  if (needsIds && ![...done.values()].some(({ events }) => events?.length)) await sendDeferred(trx);
  return outcomes.map(([{ identity }, { result }]) => ({
    identity: identity!,
    answer: (typeof result === 'function' ? result([]) : result) as Answer,
  }));
};

const submissionOf = ({ submission }: Waiting) => submission;

const referencesOf = ({ action, submission: { companyId, body } }: Waiting) => ({
  companyId,
  references: action.references?.(body as object) ?? {},
});

const eventsOf = ([{ span }, { events = [] }]: readonly [Waiting, Outcome<unknown>]) =>
  span ? events.map((event) => ({ ...event, span })) : events;

/** Gives each call its result; `stored` holds the written events of each. */
const settled = (
  done: ReadonlyMap<Waiting, Outcome<unknown>>,
  stored: readonly (readonly StoredEvent[])[],
): readonly (readonly [Waiting, unknown])[] =>
  [...done].map(([call, { result }], at) => [
    call,
    typeof result === 'function' ? result(stored[at] ?? []) : result,
  ]);

/** Errors that every call would also meet alone, or after which a retry could do the work twice. */
const concernsAll = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof CommitOutcomeUnknown || isConnectionLost(error);

/**
 * Divides calls into waves. Calls of one wave share no name; calls that share a name are in different waves, in order
 * of arrival.
 */
const wavesOf = <Call>(
  calls: readonly Call[],
  namesOf: (call: Call) => readonly string[],
): readonly (readonly Call[])[] => {
  const waves: Call[][] = [];
  const lastWave = new Map<string, number>();
  for (const call of calls) {
    const names = namesOf(call);
    const at = Math.max(-1, ...names.map((name) => lastWave.get(name) ?? -1)) + 1;
    for (const name of names) lastWave.set(name, at);
    const wave = waves[at];
    if (wave) wave.push(call);
    else waves[at] = [call];
  }
  return waves;
};
