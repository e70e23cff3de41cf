import { createHash } from 'node:crypto';
import { idempotencyKeyMs, type Problem, problem } from '@causeway/proto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { later, sendDeferred } from '../database/driver.ts';
import type { Database } from '../database/handle.ts';
import { type Rows, statement } from '../database/statement.ts';
import { transaction } from '../database/transaction.ts';
import type { Answer, LaneCall } from '../lanes/frame.ts';

export interface IdempotencyTables {
  readonly idempotency_keys: {
    readonly company_id: number;
    readonly idempotency_key: Buffer;
    readonly fingerprint: Buffer | null;
    /** Null too in a row of an older release. */
    readonly call_id: Buffer | null;
    readonly status: number;
    readonly answer: Buffer;
    readonly expires_utc: Date;
  };
}

export interface AnswerSeal {
  seal(companyId: number, answer: Buffer): Buffer;
  open(companyId: number, sealed: Buffer): Buffer;
}

export interface CarriedOut {
  readonly identity: CallIdentity;
  readonly answer: Pick<Answer, 'status' | 'body'>;
}

export interface EarlierAnswers {
  get(identity: CallIdentity): Answer | Problem | undefined;
}

/** The rows of `idempotency_keys`, read and written in the transaction of the action. */
export interface Ledger {
  /**
   * Looks for the answers of earlier calls, with the transaction's next statement. A call on its first sending has
   * none and costs nothing here: its row conflicts if it has been carried out nevertheless.
   * @param all whether to look for every call, because such a conflict has happened.
   * @returns the answers and refusals of these calls, which are there once the statement has run.
   */
  lookUp<DB>(
    trx: Kysely<DB>,
    identities: readonly CallIdentity[],
    options: { readonly now: Date; readonly all: boolean },
  ): Promise<EarlierAnswers>;
  /** The answer of an earlier call, now. */
  find<DB>(db: Database<DB>, identity: CallIdentity, now: Date): Promise<Answer | Problem | undefined>;
  /** Claims the clients' keys with the next statement: another request with such a key is refused. */
  claim<DB>(trx: Kysely<DB>, identities: readonly CallIdentity[], now: Date): Promise<void>;
  /**
   * Writes the answers with the next statement, best COMMIT. @param claimed dropped if they have no answer
   */
  record<DB>(
    trx: Kysely<DB>,
    carriedOut: readonly CarriedOut[],
    claimed: readonly CallIdentity[],
    now: Date,
  ): Promise<void>;
}

export const createLedger = (seal: AnswerSeal = unsealed): Ledger => {
  const answerIn = (row: Row, { fingerprint, callId }: CallIdentity): Answer | Problem => {
    if (fingerprint && !row.fingerprint?.equals(fingerprint)) return problem('idempotency_key_reused');
    const body = seal.open(row.company_id, row.answer);
    const answer = { status: row.status, body: body.length === 0 ? null : body };
    // If the gateway has sent the call again, its client has made one request.
    const isRepeated = fingerprint !== null && !row.call_id?.equals(callId);
    return isRepeated ? { ...answer, headers: replayed } : answer;
  };

  const ledger: Ledger = {
    lookUp: async (trx, identities, { now, all }) => {
      const db = asLedger(trx);
      const found = new Map<string, Row>();
      const look = async (select: typeof selectRows, some: readonly CallIdentity[]): Promise<void> => {
        if (some.length > 0)
          await later(db, select(db, keysOf(some)), ({ rows }) => {
            for (const row of rows) if (row.expires_utc > now) found.set(nameOf(row), row);
          });
      };
      // Fails at once if another transaction has claimed one of them.
      await look(
        claimRows,
        identities.filter((one) => !all && !one.again && one.fingerprint !== null),
      );
      await look(
        selectRows,
        identities.filter((one) => all || one.again),
      );
      return {
        get: (identity) => {
          const row = found.get(nameOf(rowKey(identity)));
          return row && answerIn(row, identity);
        },
      };
    },
    find: (db, identity, now) =>
      transaction(db, async (trx) => {
        const found = await ledger.lookUp(trx, [identity], { now, all: true });
        await sendDeferred(trx);
        return found.get(identity);
      }),
    claim: async (trx, identities, now) => {
      if (identities.length === 0) return;
      const db = asLedger(trx);
      await later(db, removeExpired(db, keysOf(identities), now));
      await insert(
        db,
        identities.map((identity) => rowOf(identity, 0, nothing, now)),
      );
    },
    record: async (trx, carriedOut, claimed, now) => {
      const db = asLedger(trx);
      if (claimed.length > 0) await later(db, removeRows(db, keysOf(claimed)));
      const rows = carriedOut.map(({ identity, answer: { status, body } }) =>
        rowOf(identity, status, seal.seal(identity.companyId, bytesOf(body)), now),
      );
      if (rows.length > 0) await insert(db, rows);
    },
  };
  return ledger;
};

const replayed = { 'Idempotent-Replayed': 'true' };

export const isReplay = ({ headers }: Answer): boolean => headers?.['Idempotent-Replayed'] === 'true';

const callMs = 300_000;

type Row = IdempotencyTables['idempotency_keys'];

const columns = [
  'company_id',
  'idempotency_key',
  'fingerprint',
  'call_id',
  'status',
  'answer',
  'expires_utc',
] as const;
const columnNames = sql.raw(columns.join(', '));

const insert = (db: Kysely<IdempotencyTables>, rows: readonly Row[]): Promise<void> =>
  later(
    db,
    insertRows(
      db,
      rows.map((row) => columns.map((column) => row[column])),
    ),
  );

const keysOf = (identities: readonly CallIdentity[]): Keys =>
  identities.map(({ companyId, key }) => [companyId, key]);

type Keys = readonly (readonly [companyId: number, key: Buffer])[];

const isAmong = (keys: RawBuilder<unknown>) => sql`(company_id, idempotency_key) IN (${keys})`;
const selectRows = statement<[Keys], Row>(
  (keys) => sql`SELECT ${columnNames} FROM idempotency_keys WHERE ${isAmong(keys)}`,
);
const claimRows = statement<[Keys], Row>(
  (keys) => sql`SELECT ${columnNames} FROM idempotency_keys WHERE ${isAmong(keys)} FOR UPDATE NOWAIT`,
);
const removeRows = statement<[Keys]>((keys) => sql`DELETE FROM idempotency_keys WHERE ${isAmong(keys)}`);
const removeExpired = statement<[Keys, Date]>(
  (keys, now) => sql`DELETE FROM idempotency_keys WHERE ${isAmong(keys)} AND expires_utc <= ${now}`,
);
const insertRows = statement<[Rows]>(
  (rows) => sql`INSERT INTO idempotency_keys (${columnNames}) VALUES ${rows}`,
);

const asLedger = <DB>(db: Kysely<DB>) => db as unknown as Kysely<IdempotencyTables>;

const rowKey = ({ companyId, key }: CallIdentity) => ({ company_id: companyId, idempotency_key: key });
const nameOf = ({ company_id, idempotency_key }: ReturnType<typeof rowKey>): string =>
  `${company_id}:${idempotency_key.toString('latin1')}`;

const rowOf = (identity: CallIdentity, status: number, answer: Buffer, now: Date): Row => ({
  ...rowKey(identity),
  fingerprint: identity.fingerprint,
  call_id: identity.fingerprint && identity.callId,
  status,
  answer,
  expires_utc: new Date(now.getTime() + (identity.fingerprint ? idempotencyKeyMs : callMs)),
});

const nothing = Buffer.alloc(0);
const bytesOf = (body: Answer['body']): Buffer =>
  body === null ? nothing : typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
const unsealed: AnswerSeal = { seal: (_, answer) => answer, open: (_, answer) => answer };

export interface CallIdentity {
  readonly companyId: number;
  readonly callId: Buffer;
  /** 16 bytes: the call's name, or a hash of the client's `Idempotency-Key` with the first bit set. */
  readonly key: Buffer;
  /** A hash of the request, if the client sent an `Idempotency-Key`. */
  readonly fingerprint: Buffer | null;
  readonly again: boolean;
}

/** Undefined for a call that is sent only once. */
export const identify = (call: LaneCall): CallIdentity | undefined => {
  const { tenant: companyId, callId: name, again = false, idempotencyKey } = call;
  if (name === undefined || !isCallId.test(name)) return undefined;
  const callId = Buffer.from(name, 'hex');
  if (idempotencyKey === undefined) return { companyId, callId, key: callId, fingerprint: null, again };
  return { companyId, callId, key: keyOf(idempotencyKey), fingerprint: fingerprintOf(call), again };
};

/** Identifies one item of a batch (contract, "Batches"). A key that a client sends is never the same as an item's. */
export const identifyItem = (batch: CallIdentity, index: number): CallIdentity => {
  const key = createHash('sha256').update(batch.key).update(`${index}`).digest().subarray(0, 16);
  if (batch.fingerprint) key[0]! |= 0x80;
  else batch.key.copy(key, 0, 0, timeBytes);
  return { ...batch, key };
};
const timeBytes = 6;

/** A call's name begins with a time in milliseconds, whose first bit is never set. */
const isCallId = /^[0-7][\da-f]{31}$/;

const keyOf = (idempotencyKey: string): Buffer => {
  const key = createHash('sha256').update(idempotencyKey).digest().subarray(0, 16);
  key[0]! |= 0x80;
  return key;
};

const fingerprintOf = ({ operation, params, query, body }: LaneCall): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([operation, params, query]))
    .update(body)
    .digest()
    .subarray(0, 16);
