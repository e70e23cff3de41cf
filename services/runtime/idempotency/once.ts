import { Problem, problem } from '@causeway/proto';
import { sendDeferred } from '../database/driver.ts';
import { CommitOutcomeUnknown, isDuplicateRow, isLockedNoWait } from '../database/errors.ts';
import type { Database, Trx } from '../database/handle.ts';
import { transaction } from '../database/transaction.ts';
import type { Answer } from '../lanes/frame.ts';
import type { Call, LaneHandler } from '../lanes/server.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import { type KeyRing, openSecret, sealSecret } from '../sealed-secret.ts';
import {
  type AnswerSeal,
  type CallIdentity,
  createLedger,
  type EarlierAnswers,
  identify,
  isReplay,
  type Ledger,
} from './ledger.ts';

export interface Once<DB> {
  /**
   * Runs `work` in a transaction and stores its answer there, or returns the stored answer.
   * @throws Problem if the client's key is in use, or was used for a different request; whatever `work`
   * throws
   */
  carryOut(identity: CallIdentity | undefined, work: (trx: Trx<DB>) => Promise<Answer>): Promise<Answer>;
  /** The stored answer, for calls that check something before. @throws Problem like `carryOut` */
  find(identity: CallIdentity | undefined): Promise<Answer | undefined>;
  /** Takes back the answer of a call whose action the transaction undoes: it can be carried out again. */
  forget(trx: Trx<DB>, identity: CallIdentity | undefined): Promise<void>;
  /** The stored answers of many calls, without waiting for those that are carried out. */
  findAll(identities: readonly CallIdentity[]): Promise<EarlierAnswers>;
}

export const createOnce = <DB>({ db, now, seal }: OnceOptions<DB>): Once<DB> => {
  const ledger = createLedger(seal);

  const carryOut = async (named: CallIdentity, work: (trx: Trx<DB>) => Promise<Answer>): Promise<Answer> => {
    let identity = named;
    let unknown: CommitOutcomeUnknown | undefined;
    for (let tries = 1; ; tries++) {
      try {
        return await transaction(db, async (trx) => {
          const at = now();
          const earlier = await lookUp(ledger, trx, identity, { now: at, all: tries > 1 });
          if (earlier) return earlier;
          const claimed = identity.fingerprint ? [identity] : [];
          await ledger.claim(trx, claimed, at);
          const answer = await work(trx);
          await ledger.record(trx, [{ identity, answer }], claimed, at);
          return answer;
        });
      } catch (error) {
        if (unknown && (error instanceof Problem || isLockedNoWait(error))) {
          // What the first attempt did may be the reason of the refusal.
          const earlier = await ledger.find(db, identity, now()).catch(() => undefined);
          if (earlier === undefined || earlier instanceof Problem) throw unknown;
          return earlier;
        }
        if (error instanceof Problem) throw error;
        if (isLockedNoWait(error)) throw problem('idempotency_in_progress', error);
        if (error instanceof CommitOutcomeUnknown) {
          unknown = error;
          identity = { ...identity, again: true };
        } else if (!isDuplicateRow(error, 'idempotency_keys')) throw unknown ?? error;
        if (tries === maxTries) throw unknown ?? error;
      }
    }
  };

  return {
    carryOut: (identity, work) => (identity ? carryOut(identity, work) : transaction(db, work)),
    find: async (identity) => {
      if (!identity?.again && !identity?.fingerprint) return undefined;
      try {
        return await transaction(db, (trx) => lookUp(ledger, trx, identity, { now: now(), all: false }));
      } catch (error) {
        throw isLockedNoWait(error) ? problem('idempotency_in_progress', error) : error;
      }
    },
    forget: async (trx, identity) => {
      if (identity) await ledger.record(trx, [], [identity], now());
    },
    findAll: (identities) =>
      transaction(db, async (trx) => {
        const found = await ledger.lookUp(trx, identities, { now: now(), all: true });
        await sendDeferred(trx);
        return found;
      }),
  };
};

const lookUp = async <DB>(
  ledger: Ledger,
  trx: Trx<DB>,
  identity: CallIdentity,
  options: { readonly now: Date; readonly all: boolean },
): Promise<Answer | undefined> => {
  const found = await ledger.lookUp(trx, [identity], options);
  await sendDeferred(trx);
  const earlier = found.get(identity);
  if (earlier instanceof Problem) throw earlier;
  return earlier;
};

const maxTries = 5;

/** Stores answers encrypted, because some hold a secret. */
export const sealedWithRing = (keyRing: KeyRing): AnswerSeal => ({
  seal: (companyId, answer) => sealSecret(keyRing, companyId, answer.toString()),
  open: (companyId, sealed) => Buffer.from(openSecret(keyRing, companyId, sealed)),
});

interface OnceOptions<DB> {
  readonly db: Database<DB>;
  readonly now: () => Date;
  readonly seal?: AnswerSeal;
}

/**
 * Shares the answer of a call that is sent again while this process carries it out, and refuses a second
 * request with the same `Idempotency-Key`. The ledger's rows hold off other processes.
 * A call that is sent again and refused may have been carried out while it was checked (a subscription to
 * delete is gone by then), so its row is looked up once more.
 */
export const createCallSharing = (
  { find }: Pick<Once<unknown>, 'find'>,
  metrics?: Metrics,
): ((handler: LaneHandler) => LaneHandler) => {
  const underWay = new Map<string, Promise<Answer>>();
  const replays = metrics?.counter(runtimeMetrics.idempotency_replays_total).cell();

  const share = (call: Call, carryOut: () => Promise<Answer>): Promise<Answer> => {
    const { tenant, callId, idempotencyKey } = call;
    if (callId === undefined) return carryOut();
    const name = `${tenant}:${callId}`;
    const first = underWay.get(name);
    if (first) return first;
    const key = idempotencyKey === undefined ? undefined : `${tenant}:key:${idempotencyKey}`;
    if (key !== undefined && underWay.has(key)) return Promise.reject(problem('idempotency_in_progress'));
    const answer = carryOut()
      .catch(async (error: unknown) => {
        const earlier = call.again && error instanceof Problem ? await find(identify(call)) : undefined;
        if (earlier) return earlier;
        throw error;
      })
      .then((given) => {
        if (replays && !call.again && isReplay(given)) replays.value++;
        return given;
      })
      .finally(() => {
        underWay.delete(name);
        if (key !== undefined) underWay.delete(key);
      });
    underWay.set(name, answer);
    if (key !== undefined) underWay.set(key, answer);
    return answer;
  };

  return (handler) => (calls) => {
    const fresh: Call[] = [];
    const answers = Promise.withResolvers<readonly Promise<Answer>[]>();
    const shared = calls.map((call) =>
      share(call, async () => {
        const at = fresh.push(call) - 1;
        return (await answers.promise)[at] ?? Promise.reject(new Error(`no promise for call ${at}`));
      }),
    );
    if (fresh.length === 0) return shared;
    try {
      answers.resolve(handler(fresh));
    } catch (error) {
      answers.reject(error);
    }
    return shared;
  };
};
