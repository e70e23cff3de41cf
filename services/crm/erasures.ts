import { deletionsKeptDays, erasedPayload, notFound } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  type Log,
  type Repeated,
  repeat,
  transaction,
} from '@causeway/runtime';
import { eraseFromSearch } from './search/erase.ts';
import type { Tables } from './tables.ts';

/**
 * Removes what tells of erased people (contract, "Erasure"): payloads of events, what receivers answered to their
 * deliveries, stored answers and the search index. A pass can be made again at any time, so a killed process loses
 * nothing, and replicas may make it at once. The second pass finds what was on its way during the first: deliveries, and
 * clients that an indexer had read.
 */
export const startErasures = ({ db, log, now }: ErasuresOptions): Repeated =>
  repeat(
    async () => {
      const due = await dueErasures(db, now());
      for (const erasure of due) {
        const removed = await eraseTraces(db, erasure);
        log.info({ companyId: erasure.company_id, clientId: erasure.client_id, ...removed }, 'person erased');
        await notePass(db, erasure, now());
      }
      return due.length + (await forgetOld(db, now()));
    },
    { pauseMs, onError: (error) => log.error({ error }, 'erasing people failed') },
  );

const pauseMs = 2_000;
/** Longer than a delivery's attempt and the stream's messages last. */
const secondPassMs = 10 * 60_000;

interface Erasure {
  readonly company_id: number;
  readonly client_id: number;
  readonly passes: number;
}

const dueErasures = (db: Database<Tables>, now: Date): Promise<Erasure[]> =>
  acrossTenants(db, 'erased people of all companies are looked for')
    .selectFrom('erasures')
    .select(['company_id', 'client_id', 'passes'])
    .where('due_utc', '<=', now)
    .orderBy('due_utc')
    .limit(10)
    .execute();

const notePass = (db: Database<Tables>, { company_id, client_id, passes }: Erasure, now: Date) =>
  db
    .updateTable('erasures')
    .set({ passes: passes + 1, due_utc: passes === 0 ? new Date(now.getTime() + secondPassMs) : null })
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .where('passes', '=', passes)
    .execute();

export const eraseTraces = async (
  db: Database<Tables>,
  { company_id: companyId, client_id: clientId }: Pick<Erasure, 'company_id' | 'client_id'>,
) => {
  const events = await erasePayloads(db, companyId, clientId);
  const answers = await eraseAnswers(db, companyId, clientId);
  await eraseFromSearch(db, companyId, clientId);
  return { events, answers };
};

/** Every payload names its person at the top level (`proto/events/types`). @returns the number of events. */
const erasePayloads = async (db: Database<Tables>, companyId: number, clientId: number): Promise<number> => {
  const ofCompany = db.selectFrom('events').where('company_id', '=', companyId);
  const { first, last } = await ofCompany
    .select((eb) => [eb.fn.min('sequence').as('first'), eb.fn.max('sequence').as('last')])
    .executeTakeFirstOrThrow();
  let erased = 0;
  for (let from = first ?? 1; from <= (last ?? 0); from += eventsAtOnce) {
    const found = await ofCompany
      .select(['sequence', 'created_utc', 'event_id', 'payload'])
      .where('sequence', '>=', from)
      .where('sequence', '<', from + eventsAtOnce)
      .where((eb) => eb.or(naming(clientId).map((text) => eb('payload', 'like', Buffer.from(text)))))
      .execute();
    for (const { sequence, created_utc, event_id, payload } of found) {
      if (JSON.parse(payload.toString()).client_id !== clientId) continue;
      await transaction(db, async (trx) => {
        await trx
          .updateTable('events')
          .set({ payload: erasedPayload(clientId) })
          .where('company_id', '=', companyId)
          .where('sequence', '=', sequence)
          .where('created_utc', '=', created_utc)
          .execute();
        await trx
          .updateTable('delivery_attempts')
          .set({ response_body: null, response_headers: null, response_truncated: 0 })
          .where('company_id', '=', companyId)
          .where('event_id', '=', event_id)
          .where('created_utc', '=', created_utc)
          .execute();
      });
      erased++;
    }
  }
  return erased;
};

/** JSON of ours has no blanks; other modules send theirs. */
const naming = (clientId: number): readonly string[] => [
  `%"client_id":${clientId},%`,
  `%"client_id":${clientId}}%`,
];

/** Few enough that a query takes milliseconds. */
const eventsAtOnce = 10_000;

/** A repetition must not make the person again, so the row of a call stays. Those of a batch's items do so too. */
const eraseAnswers = async (db: Database<Tables>, companyId: number, clientId: number): Promise<number> => {
  const found = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('status', '<', 300)
    .where((eb) => eb.or(naming(clientId).map((text) => eb('answer', 'like', Buffer.from(text)))))
    .execute();
  for (const row of found)
    await transaction(db, async (trx) => {
      const { numDeletedRows } = await trx
        .deleteFrom('idempotency_keys')
        .where('company_id', '=', companyId)
        .where('idempotency_key', '=', row.idempotency_key)
        .executeTakeFirst();
      const isBatch = 'results' in JSON.parse(row.answer.toString());
      if (numDeletedRows > 0 && !isBatch)
        await trx
          .insertInto('idempotency_keys')
          .values({ ...row, status: 404, answer: personNotFound })
          .execute();
    });
  return found.length;
};

const personNotFound = Buffer.from(JSON.stringify({ error: notFound('person').publicMessage }));

/** @returns 0 unless there may be more. */
const forgetOld = async (db: Database<Tables>, now: Date): Promise<number> => {
  const before = new Date(now.getTime() - (deletionsKeptDays + 1) * 86_400_000);
  const old = await acrossTenants(db, 'erasures of all companies are forgotten')
    .selectFrom('erasures')
    .select(['company_id', 'client_id'])
    .where('erased_utc', '<', before)
    .limit(100)
    .execute();
  for (const companyId of new Set(old.map(({ company_id }) => company_id))) {
    await db
      .deleteFrom('record_changes')
      .where('company_id', '=', companyId)
      .where('is_deleted', '=', 1)
      .where('changed_utc', '<', before)
      .execute();
    await db
      .deleteFrom('erasures')
      .where('company_id', '=', companyId)
      .where('erased_utc', '<', before)
      .execute();
  }
  return old.length;
};

interface ErasuresOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly now: () => Date;
}
