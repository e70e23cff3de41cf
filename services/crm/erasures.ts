import { erasedPayload, notFound } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  eachAlone,
  isDue,
  type Log,
  type Repeated,
  repeat,
  type Trx,
  transaction,
} from '@causeway/runtime';
import type { Kysely, Selectable } from 'kysely';
import { lastNumber, lockNumbers, writeNumbers } from './number-changes.ts';
import { eraseFromSearch } from './search/erase.ts';
import type { Tables } from './tables.ts';

/**
 * Removes what tells of erased people (contract, "Erasure"): the notes and changes of status that were too many for one transaction,
 * payloads of events, what receivers answered to their deliveries, stored answers and the search index. A pass can be made again at
 * any time, so a killed process loses nothing, and replicas may make it at once. The second pass finds what was on its way during the
 * first: deliveries, and clients that an indexer had read.
 */
export const startErasures = ({ db, log, now }: ErasuresOptions): Repeated =>
  repeat(
    async () => {
      const companies = await companiesDue(db, now());
      await eachAlone(companies, async (companyId) => {
        const found = await peopleDue(db, companyId, now());
        const due: DuePerson[] = [];
        for (const person of found) if (await eraseRest(db, companyId, person, now())) due.push(person);
        if (due.length === 0) return;
        const removed = await eraseTraces(db, companyId, new Set(due.map(({ client_id }) => client_id)));
        log.info({ companyId, people: due.length, ...removed }, 'people erased');
        await notePass(db, companyId, due, now());
      });
      return companies.length;
    },
    { pauseMs, onError: (error) => log.error({ error }, 'erasing people failed') },
  );

const pauseMs = 2_000;
/** Longer than a delivery's attempt and the stream's messages last. */
const secondPassMs = 10 * 60_000;
/** A pass reads the company's stored answers once for all of them. */
const peopleAtOnce = 100;

/** The longest waiting first, so that a company that erases many delays the others by one pass at most. */
const companiesDue = async (db: Database<Tables>, now: Date): Promise<readonly number[]> => {
  const due = await acrossTenants(db, 'erased people of all companies are looked for')
    .selectFrom('erasures')
    .select('company_id')
    .where(isDue('due_utc', now, secondPassMs))
    .groupBy('company_id')
    .orderBy(({ fn }) => fn.min('due_utc'))
    .limit(10)
    .execute();
  return due.map(({ company_id }) => company_id);
};

type DuePerson = Pick<Selectable<Tables['erasures']>, 'client_id' | 'passes' | 'version' | 'origin'>;

const peopleDue = (db: Database<Tables>, companyId: number, now: Date): Promise<DuePerson[]> =>
  db
    .selectFrom('erasures')
    .select(['client_id', 'passes', 'version', 'origin'])
    .where('company_id', '=', companyId)
    .where(isDue('due_utc', now, secondPassMs))
    .orderBy('due_utc')
    .limit(peopleAtOnce)
    .execute();

const notePass = async (
  db: Database<Tables>,
  companyId: number,
  people: readonly DuePerson[],
  now: Date,
): Promise<void> => {
  for (const { client_id, passes } of people)
    await updateErasure(db, companyId, client_id)
      .set({ passes: passes + 1, due_utc: passes === 0 ? new Date(now.getTime() + secondPassMs) : null })
      .where('passes', '=', passes)
      .execute();
};

const updateErasure = (db: Kysely<Tables>, companyId: number, clientId: number) =>
  db.updateTable('erasures').where('company_id', '=', companyId).where('client_id', '=', clientId);

/** @returns whether all is removed. If not, others' erasures come first. */
const eraseRest = async (
  db: Database<Tables>,
  companyId: number,
  { client_id, version, origin }: DuePerson,
  now: Date,
): Promise<boolean> => {
  if (version === null) return true;
  const erasure = { company_id: companyId, client_id, version, origin: origin!, erased_utc: now };
  for (let slices = 0; slices < slicesAtOnce; slices++) {
    const isDone = await transaction(db, async (trx) => {
      await lockNumbers(trx, companyId);
      return eraseSlice(trx, erasure);
    });
    if (isDone) return true;
  }
  await updateErasure(db, companyId, client_id).set({ due_utc: now }).execute();
  return false;
};

/** Whether the feed has yet to tell of an erased person. */
export const hasUnfinishedErasure = async (db: Kysely<Tables>, companyId: number): Promise<boolean> => {
  const unfinished = await db
    .selectFrom('erasures')
    .select('client_id')
    .where('company_id', '=', companyId)
    .where('version', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return unfinished !== undefined;
};

const slicesAtOnce = 20;
const rowsAtOnce = 500;

interface Erasure {
  readonly company_id: number;
  readonly client_id: number;
  readonly version: number;
  readonly origin: string;
  readonly erased_utc: Date;
}

/**
 * Removes rows of a person who is gone, as few as hold nobody up, and tells of them in the feed, of the person at last. The company's
 * numbers are locked. @returns whether all are removed
 */
export const eraseSlice = async (trx: Trx<Tables>, erasure: Erasure): Promise<boolean> => {
  const { company_id, client_id, version, origin, erased_utc } = erasure;
  const notes = await trx
    .selectFrom('client_notes')
    .select(['client_note_id', 'version'])
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .limit(rowsAtOnce)
    .forUpdate()
    .execute();
  const noteIds = notes.map((note) => note.client_note_id);
  if (noteIds.length > 0)
    await trx
      .deleteFrom('client_notes')
      .where('company_id', '=', company_id)
      .where('client_note_id', 'in', noteIds)
      .execute();
  const { numDeletedRows } = await trx
    .deleteFrom('client_status_history')
    .where('company_id', '=', company_id)
    .where('client_id', '=', client_id)
    .limit(rowsAtOnce)
    .executeTakeFirst();
  const isDone = notes.length < rowsAtOnce && numDeletedRows < rowsAtOnce;
  const gone = [
    ...notes.map((note) => ({
      type: 'note' as const,
      record_id: note.client_note_id,
      version: note.version + 1,
    })),
    ...(isDone ? [{ type: 'person' as const, record_id: client_id, version }] : []),
  ];
  const last = await lastNumber(trx, company_id);
  const changes = gone.map((one) => ({ ...one, origin, changed_utc: erased_utc, is_deleted: 1 }));
  if (changes.length > 0) await writeNumbers(trx, company_id, last, changes);
  if (isDone) await updateErasure(trx, company_id, client_id).set({ version: null, origin: null }).execute();
  return isDone;
};

export const eraseTraces = async (db: Database<Tables>, companyId: number, people: ReadonlySet<number>) => {
  const events = await erasePayloads(db, companyId, people);
  const answers = await eraseAnswers(db, companyId, people);
  await eraseFromSearch(db, companyId, people);
  return { events, answers };
};

/** Every payload names its person at the top level (`proto/events/types`). @returns the number of events. */
const erasePayloads = async (
  db: Database<Tables>,
  companyId: number,
  people: ReadonlySet<number>,
): Promise<number> => {
  const found = await db
    .selectFrom('events')
    .select(['sequence', 'created_utc', 'event_id', 'client_id'])
    .where('company_id', '=', companyId)
    .where('client_id', 'in', [...people])
    .execute();
  for (const { sequence, created_utc, event_id, client_id } of found)
    await transaction(db, async (trx) => {
      await trx
        .updateTable('events')
        .set({ payload: erasedPayload(client_id!) })
        .where('company_id', '=', companyId)
        .where('sequence', '=', sequence)
        .where('created_utc', '=', created_utc)
        .execute();
      await trx
        .updateTable('delivery_attempts')
        .set({ response_body: null, response_truncated: 0 })
        .where('company_id', '=', companyId)
        .where('event_id', '=', event_id)
        .where('created_utc', '=', created_utc)
        .execute();
    });
  return found.length;
};

/** A repetition must not make a person again, so the row of a call stays. Those of a batch's items do so too. */
const eraseAnswers = async (
  db: Database<Tables>,
  companyId: number,
  people: ReadonlySet<number>,
): Promise<number> => {
  let erased = 0;
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const rows = await db
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('idempotency_key', '>', after)
      .orderBy('idempotency_key')
      .limit(answersAtOnce)
      .execute();
    const naming = rows.filter(({ answer }) =>
      [...answer.toString('latin1').matchAll(/"client_id":(\d+)/g)].some(([, id]) => people.has(Number(id))),
    );
    for (const row of naming)
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
    erased += naming.length;
    if (rows.length < answersAtOnce) return erased;
    after = rows.at(-1)!.idempotency_key;
  }
};

/** The answer of a batch has some ten thousand bytes. */
const answersAtOnce = 500;

const personNotFound = Buffer.from(JSON.stringify({ error: notFound('person').publicMessage }));

interface ErasuresOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly now: () => Date;
}
