import { rowOf, rowsOf, testLane, until } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { eraseTraces } from './erasures.ts';
import { entriesPerChunk } from './search/postings.ts';
import { bootCrm, newCallId } from './testing/boot.ts';
import { indexAll } from './testing/index-all.ts';
import { eventsOf } from './testing/look.ts';

const crm = await bootCrm({ tables: 'all' });
const { db } = crm;
let lastCompany = 9000;
const newCompany = (): number => ++lastCompany;

const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const create = async (companyId: number, more: object = {}): Promise<number> =>
  (await crm.act('createClient', companyId, { ...person, ...more })).body.client_id;

const erase = async (companyId: number, id: number) => {
  const { status, body } = await crm.call('erasePerson', companyId, { params: [String(id)] });
  return status === 204 ? status : [status, body.error];
};

/** Waits for the passes over what is left of a person. */
const settled = (companyId: number, id: number, passes = 1) =>
  until(`pass ${passes} over ${id}`, async () => {
    const row = await db
      .selectFrom('erasures')
      .select('passes')
      .where('company_id', '=', companyId)
      .where('client_id', '=', id)
      .executeTakeFirst();
    return (row?.passes ?? 0) >= passes;
  });

const addNotes = async (companyId: number, id: number, count: number) => {
  const rows = Array.from({ length: count }, (_, at) => [companyId, id, `note ${at}`, 'general', 'internal']);
  await crm.database.query(
    `INSERT INTO client_notes (company_id, client_id, text, note_type, visibility, created_utc, updated_utc)
     VALUES ${rows.map(() => '(?, ?, ?, ?, ?, NOW(3), NOW(3))').join()}`,
    rows.flat(),
  );
};

const addAttempt = async (companyId: number, event: { event_id: number; created_utc: Date }) =>
  crm.database.query(
    `INSERT INTO delivery_attempts (company_id, event_id, subscription_id, attempt, created_utc, started_utc,
      elapsed_ms, url, status_code, sent, response_body)
     VALUES (?, ?, 1, 1, ?, NOW(3), 5, 'https://example.com/', 200, '', 'hello Ann')`,
    [companyId, event.event_id, event.created_utc],
  );

const attemptsOf = (companyId: number) =>
  db
    .selectFrom('delivery_attempts')
    .select(['event_id', 'response_body'])
    .where('company_id', '=', companyId)
    .orderBy('event_id')
    .execute();

describe('Erasing a person', () => {
  test('removes the record and its notes at once, and the feed tells of it', async () => {
    const companyId = newCompany();
    const id = await create(companyId, { external_id: 'x' });
    const other = await create(companyId);
    await crm.act('updateClientStatus', companyId, { new_status: 'Client - VIP', status_note: 'Hm' }, id);
    const { body: note } = await crm.act('addClientNote', companyId, { text: 'Likes tea' }, id);
    const { body: before } = await crm.ask('listChanges', companyId);
    expect(await erase(companyId, id)).toBe(204);
    expect(await erase(companyId, id)).toEqual([404, 'person not found']);
    expect((await crm.ask('getPerson', companyId, '', id)).status).toBe(404);
    const { body: after } = await crm.ask('listChanges', companyId, { cursor: before.nextCursor });
    expect(after.changes).toMatchObject([
      {
        type: 'note',
        id: note.client_note_id,
        operation: 'delete',
        version: 2,
        record: null,
        external_id: null,
      },
      { type: 'person', id, operation: 'delete', record: null, external_id: null },
    ]);
    const people = await crm.ask('listPeople', companyId);
    expect(people.body.people.map(({ client_id }: typeof note) => client_id)).toEqual([other]);
    expect(await create(companyId, { external_id: 'x' })).not.toBe(id);
    const audited = await rowsOf(db, 'audit_log', companyId);
    expect(audited).toMatchObject([
      {
        action: 'person.erased',
        actor_kind: 'key',
        target_kind: 'person',
        target_id: String(id),
        before_json: null,
        after_json: null,
      },
    ]);
  });

  test('hides a person with many notes at once, and removes the notes in slices, the person at last', async () => {
    const companyId = newCompany();
    const id = await create(companyId);
    await addNotes(companyId, id, 1_700);
    const [note] = await rowsOf(db, 'client_notes', companyId);
    const adding = Array.from({ length: 5 }, () => crm.act('addClientNote', companyId, { text: 'more' }, id));
    expect(await erase(companyId, id)).toBe(204);
    for (const { status } of await Promise.all(adding)) expect([201, 404]).toContain(status);
    expect((await crm.ask('getPerson', companyId, '', id)).status).toBe(404);
    expect((await crm.ask('listNotes', companyId, '', id)).status).toBe(404);
    expect((await crm.act('addClientNote', companyId, { text: 'late' }, id)).status).toBe(404);

    const changes = [];
    let cursor = '';
    for (let hasMore = true; hasMore; ) {
      const { body } = await crm.ask('listChanges', companyId, { limit: '1000', ...(cursor && { cursor }) });
      changes.push(...body.changes);
      ({ nextCursor: cursor, hasMore } = body);
    }
    const told = changes.map(({ type, operation }) => `${type} ${operation}`);
    expect(told.at(-1)).toBe('person delete');
    expect(told.filter((one) => one === 'note upsert')).toEqual([]);
    expect(changes).toContainEqual(
      expect.objectContaining({ id: note!.client_note_id, operation: 'delete' }),
    );
    await settled(companyId, id);
    const left = await rowsOf(db, 'client_notes', companyId);
    expect(left).toEqual([]);
  });

  test('makes the second pass after the clock went back', async () => {
    const companyId = newCompany();
    const id = await create(companyId);
    await erase(companyId, id);
    await settled(companyId, id);
    await crm.database.query('UPDATE erasures SET due_utc = due_utc + INTERVAL 1 HOUR WHERE company_id = ?', [
      companyId,
    ]);
    await settled(companyId, id, 2);
  });

  test('is possible for an operator, who names the company', async () => {
    const companyId = newCompany();
    const id = await create(companyId);
    const operator = testLane(crm.bus, 'operator-crm', 'operator');
    const ask = async (body: object) => {
      const answer = await operator({
        operation: 'erasePersonOfCompany',
        body: Buffer.from(JSON.stringify(body)),
      });
      return [answer.status, JSON.parse(String(answer.body))];
    };
    expect(await ask({ company_id: newCompany(), client_id: id })).toEqual([
      404,
      { error: 'person not found' },
    ]);
    const named = { company_id: companyId, client_id: id };
    expect(await ask(named)).toEqual([200, named]);
    expect((await crm.ask('getPerson', companyId, '', id)).status).toBe(404);
  });

  test('blanks the payloads of its events and the answers to their deliveries, and of no other', async () => {
    const companyId = newCompany();
    const id = await create(companyId);
    const others = [await create(companyId), id * 10, id * 10 + 1];
    const insert = (payload: object, sequence: number) =>
      db
        .insertInto('events')
        .values({
          company_id: companyId,
          sequence,
          created_utc: new Date(),
          type: 'invoice.created',
          payload: Buffer.from(JSON.stringify(payload)),
        })
        .execute();
    await insert({ client_id: others[1], amount: 1 }, 50_001);
    await insert({ amount: 1, client_id: id }, 50_002);
    await insert({ invoice: { client_id: id }, client_id: others[2] }, 50_003);
    const stored = await rowsOf(db, 'events', companyId);
    for (const event of stored) await addAttempt(companyId, event);
    const before = await eventsOf(db, companyId);
    expect(await erase(companyId, id)).toBe(204);
    await settled(companyId, id);
    const erased = { client_id: id, erased: true };
    expect((await eventsOf(db, companyId)).map(({ payload }) => payload)).toEqual(
      before.map(({ payload }) => (payload.client_id === id ? erased : payload)),
    );
    expect((await attemptsOf(companyId)).map(({ response_body }) => response_body === null)).toEqual(
      before.map(({ payload }) => payload.client_id === id),
    );
    expect(JSON.stringify(before)).toContain('ann@example.com');
  });

  test('removes it from stored answers, and a repeated create does not make it again', async () => {
    const companyId = newCompany();
    const create = (callId: string) =>
      crm.write('createLead', companyId, person, { callId, idempotencyKey: callId });
    const [one, other] = [newCallId(), newCallId()];
    const [first, second] = [await create(one), await create(other)];
    const answers = () => rowsOf(db, 'idempotency_keys', companyId);
    expect(await answers()).toHaveLength(2);
    expect(await erase(companyId, first.body.client_id)).toBe(204);
    await settled(companyId, first.body.client_id);
    const error = 'person not found';
    expect(new Set((await answers()).map(({ answer }) => String(answer)))).toEqual(
      new Set([JSON.stringify({ error }), JSON.stringify(second.body)]),
    );
    // A client that repeats its create does not bring the person back.
    expect(await create(one)).toMatchObject({ status: 404, body: { error } });
  });

  test('removes its texts from the search, in the tail and in full chunks, and other people are found as before', async () => {
    const companyId = newCompany();
    const texts = (at: number) => ({
      first_name: `Person${at}`,
      last_name: 'Quixote',
      email: `p${at}@example.org`,
    });
    const ids: number[] = [];
    for (let at = 0; at < entriesPerChunk + 40; at += 64)
      ids.push(
        ...(await Promise.all(Array.from({ length: 64 }, (_, n) => create(companyId, texts(at + n))))),
      );
    await indexAll(db);
    const gone = [ids[7]!, ids[100]!, ids.at(-3)!, ids.at(-1)!];
    const dump = async () => {
      const postings = await db
        .selectFrom('client_search_postings')
        .select(({ fn }) => [
          fn.countAll<number>().as('rows'),
          fn.sum<number>(sql`LENGTH(occurrences)`).as('bytes'),
        ])
        .where('company_id', '=', companyId)
        .executeTakeFirstOrThrow();
      const tail = await rowOf(db, 'client_search_tails', companyId);
      return { bytes: Number(postings.bytes), tail: String(tail.texts) };
    };
    const before = await dump();
    for (const id of gone) expect(await erase(companyId, id)).toBe(204);
    for (const id of gone) await settled(companyId, id);
    const after = await dump();
    expect(after.bytes).toBeLessThan(before.bytes);
    for (const text of [`person${ids.length - 1} `, `person${ids.length - 3} `]) {
      expect(before.tail).toContain(text);
      expect(after.tail).not.toContain(text);
    }
    for (const at of [0, 6, 8, 99, 101, ids.length - 4, ids.length - 2]) {
      const { body } = await crm.ask('searchClients', companyId, { q: `p${at}@example.org` });
      expect([at, body.clients.map(({ id }: { id: number }) => id)]).toEqual([at, [ids[at]]]);
    }
    const { body } = await crm.ask('searchClients', companyId, { q: 'p7@example.org' });
    expect(body.clients).toEqual([]);
  }, 120_000);

  test('can be repeated after a kill in its middle', async () => {
    const companyId = newCompany();
    const id = await create(companyId);
    expect(await erase(companyId, id)).toBe(204);
    await settled(companyId, id);
    expect(await eraseTraces(db, companyId, new Set([id]))).toEqual({ events: 1, answers: 0 });
    expect(await eventsOf(db, companyId)).toMatchObject([{ payload: { client_id: id, erased: true } }]);
  });
});
