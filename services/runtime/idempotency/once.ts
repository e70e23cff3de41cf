import { Problem, problem } from '@causeway/proto';
import type { Database } from '../database/connect.ts';
import { sendDeferred } from '../database/deferred.ts';
import { CommitOutcomeUnknown, isDuplicateRow, isLockedNoWait } from '../database/errors.ts';
import { type Trx, transaction } from '../database/transaction.ts';
import type { Answer } from '../lanes/call.ts';
import type { Identity } from './identity.ts';
import { type AnswerSeal, createLedger, type Ledger } from './ledger.ts';

/** Carries out calls once, one call per transaction. */
export interface Once<DB> {
  /**
   * Runs `work` in a transaction and stores its answer there, or returns the answer that is stored already. `work` may
   * run more than once before it is committed, as in `transaction`; effects that a repeat must not have belong in
   * `onCommit`. Without an identity it is a plain transaction.
   * @throws Problem if the client's key is in use, or was used for a different request; whatever `work` throws
   */
  carryOut(identity: Identity | undefined, work: (trx: Trx<DB>) => Promise<Answer>): Promise<Answer>;
  /**
   * The answer that is stored already, for calls with work or checks before the transaction.
   * @throws Problem like `carryOut`
   */
  find(identity: Identity | undefined): Promise<Answer | undefined>;
}

/** @param seal encrypts the answers, if they hold secrets. */
export const createOnce = <DB>({ db, now, seal }: OnceOptions<DB>): Once<DB> => {
  const ledger = createLedger(seal);

  const carryOut = async (named: Identity, work: (trx: Trx<DB>) => Promise<Answer>): Promise<Answer> => {
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
        if (error instanceof Problem) throw error;
        if (isLockedNoWait(error)) throw problem('idempotency_in_progress', error);
        if (error instanceof CommitOutcomeUnknown) {
          // The row tells whether it was committed.
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
  };
};

const lookUp = async <DB>(
  ledger: Ledger,
  trx: Trx<DB>,
  identity: Identity,
  options: { readonly now: Date; readonly all: boolean },
): Promise<Answer | undefined> => {
  const found = await ledger.lookUp(trx, [identity], options);
  await sendDeferred(trx);
  const earlier = found().get(identity);
  if (earlier instanceof Problem) throw earlier;
  return earlier;
};

const maxTries = 5;

export interface OnceOptions<DB> {
  readonly db: Database<DB>;
  readonly now: () => Date;
  readonly seal?: AnswerSeal;
}
