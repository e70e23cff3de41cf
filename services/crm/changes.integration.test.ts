import { describe, expect, test } from 'vitest';
import { untilFilled } from './records.ts';
import { bootCrm } from './testing/boot.ts';
import { makeAffiliate, makeClient, makeEmployee, statusIds } from './testing/make.ts';

const crm = await bootCrm({ replicas: 2 });
let lastCompany = 7000;
const newCompany = (): number => ++lastCompany;

interface Entry {
  readonly sequence: number;
  readonly type: 'person' | 'affiliate' | 'note';
  readonly id: number;
  readonly version: number;
  readonly origin: string;
  readonly record: Readonly<Record<string, unknown>>;
}

type Query = Readonly<Record<string, string>>;

const readPage = async (companyId: number, query: Query = {}) => {
  const { status, body } = await crm.ask('listChanges', companyId, query);
  expect([status, body.error]).toEqual([200, undefined]);
  return body as {
    readonly changes: readonly Entry[];
    readonly nextCursor: string;
    readonly hasMore: boolean;
  };
};

/** Reads to the end as a client does that keeps each record at its highest version. */
const follow = async (companyId: number, query: Query = {}, cursor = '') => {
  const entries: Entry[] = [];
  const state = new Map<string, Entry>();
  for (let next = cursor; ; ) {
    const page = await readPage(companyId, { ...query, ...(next && { cursor: next }) });
    for (const entry of page.changes) {
      entries.push(entry);
      const key = `${entry.type} ${entry.id}`;
      if (entry.version > (state.get(key)?.version ?? 0)) state.set(key, entry);
    }
    next = page.nextCursor;
    if (!page.hasMore) return { entries, state, cursor: next };
  }
};

const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const createLead = async (companyId: number, more: object = {}): Promise<number> =>
  (await crm.act('createLead', companyId, { ...person, ...more })).body.client_id;

const makePeople = (companyId: number, count: number) => {
  const rows = Array.from({ length: count }, (_, at) => ({
    company_id: companyId,
    status_id: statusIds.leadNew,
    first_name: 'Ann',
    last_name: `${at}`,
    email: 'ann@example.com',
  }));
  return crm.db.insertInto('clients').values(rows).execute();
};

describe('The changes', () => {
  test('of a company without records are empty, and can be followed from there', async () => {
    const companyId = newCompany();
    const empty = await readPage(companyId);
    expect(empty).toEqual({ changes: [], nextCursor: expect.any(String), hasMore: false });
    const id = await createLead(companyId);
    const { changes } = await readPage(companyId, { cursor: empty.nextCursor });
    expect(changes).toMatchObject([{ sequence: 1, type: 'person', id, operation: 'upsert', version: 1 }]);
  });

  test('hold each record once, whole, at its latest change, with who made it', async () => {
    const companyId = newCompany();
    // By two replicas, so either may have the lower id, and one reading numbers people by their ids.
    const leads = [await createLead(companyId), await createLead(companyId)];
    const [first, second] = leads.toSorted((a, b) => a - b) as [number, number];
    await crm.act('updateLead', companyId, { external_id: 'a', city: 'Graz' }, first);
    const { body: note } = await crm.act('addClientNote', companyId, { text: 'Hello' }, first);
    const { body: made } = await crm.act('createAffiliate', companyId, { ...person, commission_rate: 12.5 });
    await crm.act('updateLead', companyId, { first_name: 'Anna' }, first);
    await crm.act('updateClientStatus', companyId, { new_status: 'Client - Active' }, second);
    const { entries, cursor } = await follow(companyId);
    expect(entries).toMatchObject([
      { sequence: 1, type: 'affiliate', id: made.employee_id, version: 1 },
      { sequence: 2, type: 'person', id: first, version: 3, external_id: 'a' },
      { sequence: 3, type: 'person', id: second, version: 2, external_id: null },
      { sequence: 4, type: 'note', id: note.client_note_id, version: 1 },
    ]);
    expect(new Set(entries.map(({ origin }) => origin))).toEqual(new Set(['key:1']));
    expect(entries[3]!.record).toEqual({
      client_note_id: note.client_note_id,
      client_id: first,
      text: 'Hello',
      note_type: 'general',
      visibility: 'internal',
      external_id: null,
      created_utc: note.created_utc,
      updated_utc: note.created_utc,
      version: 1,
    });
    expect(entries[0]!.record).toMatchObject({ commission_rate: 12.5, is_active: true, is_approved: false });
    expect(entries[1]!.record).toMatchObject({
      client_id: first,
      first_name: 'Anna',
      city: 'Graz',
      status: 'Lead - New',
      status_id: 1,
      is_lead: true,
      version: 3,
    });
    expect(entries[2]!.record).toMatchObject({ status: 'Client - Active', is_lead: false });
    await crm.act('updateLead', companyId, { city: 'Linz' }, first);
    expect((await follow(companyId, {}, cursor)).entries).toMatchObject([
      { sequence: 5, id: first, version: 4 },
    ]);
    expect((await follow(companyId)).entries.map(({ sequence }) => sequence)).toEqual([1, 3, 4, 5]);
  });

  test('do not move for a write that changes no value', async () => {
    const companyId = newCompany();
    const id = await createLead(companyId, { external_id: 'same' });
    const { cursor } = await follow(companyId);
    await crm.act('updateLead', companyId, { first_name: 'Ann' }, id);
    await crm.act('createLead', companyId, { ...person, external_id: 'same' });
    expect(await follow(companyId, {}, cursor)).toMatchObject({ entries: [] });
  });

  test('are the same in pages of any size', async () => {
    const companyId = newCompany();
    await Promise.all(Array.from({ length: 23 }, () => createLead(companyId)));
    const { entries } = await follow(companyId);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 23 }, (_, at) => at + 1));
    for (const limit of ['1', '5', '22', '23', '24'])
      expect((await follow(companyId, { limit })).entries).toEqual(entries);
  });

  test('are narrowed to types', async () => {
    const companyId = newCompany();
    const id = await createLead(companyId);
    await crm.act('addClientNote', companyId, { text: 'Hello' }, id);
    const typesOf = async (query: Query) => (await follow(companyId, query)).entries.map(({ type }) => type);
    expect(await typesOf({ types: 'note' })).toEqual(['note']);
    expect(await typesOf({ types: 'note,person' })).toEqual(['person', 'note']);
  });

  test('of a rare type are found in few pages, and are followed from the end without being read', async () => {
    const companyId = newCompany();
    await makePeople(companyId, 2_300);
    const person = await makeClient(crm.db, companyId, {});
    await crm.act('addClientNote', companyId, { text: 'Hello' }, person);
    expect((await follow(companyId, { types: 'note' })).entries).toMatchObject([
      { type: 'note', sequence: 2_302 },
    ]);
    // A page that has no entry yet is filled as long as there is more to read.
    const read = async (place: number) => ({
      entries: place < 5 ? [] : ['{}'],
      place: place + 1,
      hasMore: place < 9,
    });
    expect(await untilFilled(0 as number, read, 60_000)).toEqual({
      entries: ['{}'],
      place: 6,
      hasMore: true,
    });
    expect(await untilFilled(0 as number, read, -1)).toEqual({ entries: [], place: 1, hasMore: true });

    const other = newCompany();
    await makePeople(other, 2_300);
    let latest = await readPage(other, { cursor: 'latest' });
    while (latest.hasMore) latest = await readPage(other, { cursor: 'latest' });
    expect(latest.changes).toEqual([]);
    const id = await createLead(other);
    expect((await follow(other, {}, latest.nextCursor)).entries).toMatchObject([{ id, sequence: 2_301 }]);
    expect(await readPage(newCompany(), { cursor: 'latest' })).toMatchObject({ changes: [], hasMore: false });
  });

  test('of another company are not visible, and its cursor is refused, as is one of other types', async () => {
    const [mine, theirs] = [newCompany(), newCompany()];
    await createLead(theirs);
    const { cursor } = await follow(theirs);
    expect((await follow(mine)).entries).toEqual([]);
    for (const [companyId, query] of [
      [mine, { cursor }],
      [theirs, { cursor, types: 'note' }],
      [theirs, { cursor: 'abc' }],
      [theirs, { cursor: Buffer.from('[1,2,3]').toString('base64url') }],
    ] as const) {
      const { status, body } = await crm.ask('listChanges', companyId, query as Query);
      expect([status, body.error]).toEqual([400, expect.stringMatching(/^invalid cursor/)]);
    }
  });

  test('hold records from before there were changes', async () => {
    const companyId = newCompany();
    const old = await makeClient(crm.db, companyId, {});
    const partner = await makeAffiliate(crm.db, companyId, {});
    await makeEmployee(crm.db, companyId, {});
    const { entries } = await follow(companyId);
    expect(entries).toMatchObject([
      { type: 'affiliate', id: partner, version: 1, origin: 'system' },
      { type: 'person', id: old, version: 1, origin: 'system' },
    ]);
  });

  test('come whole and once to readers that begin together, after more writes than one reading numbers', async () => {
    const companyId = newCompany();
    await makePeople(companyId, 2_300);
    const readers = await Promise.all(Array.from({ length: 12 }, () => follow(companyId, { limit: '1000' })));
    for (const { entries } of readers)
      expect(entries.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 2_300 }, (_, at) => at + 1),
      );
  });
});

describe('A feed that is read while it grows', async () => {
  const crm = await bootCrm({ replicas: 2, tables: 'all' });
  const { db } = crm;
  const companyId = 7000;

  /** A committed write that gave a record this version. */
  interface Write {
    readonly record: string;
    readonly version: number;
  }

  type State = Map<string, number>;

  const has = (state: State, { record, version }: Write): boolean => (state.get(record) ?? 0) >= version;

  /** The state is that of one moment if it has, with a writer's last write that it has, all its earlier ones. */
  const missing = (state: State, writes: readonly Write[]): readonly Write[] =>
    writes
      .slice(0, writes.findLastIndex((write) => has(state, write)) + 1)
      .filter((write) => !has(state, write));

  const insertPerson = (affiliateId: number) =>
    db
      .insertInto('clients')
      .values({
        company_id: companyId,
        status_id: statusIds.leadNew,
        first_name: 'Ann',
        last_name: 'Lee',
        email: 'ann@example.com',
        affiliate_id: affiliateId,
      })
      .executeTakeFirstOrThrow();

  const insertNote = (clientId: number) =>
    db
      .insertInto('client_notes')
      .values({
        company_id: companyId,
        client_id: clientId,
        text: 'Hello',
        note_type: 'general',
        visibility: 'internal',
        created_utc: new Date(),
        updated_utc: new Date(),
      })
      .executeTakeFirstOrThrow();

  const moveNote = (noteId: number, clientId: number) =>
    db
      .updateTable('client_notes')
      .set((eb) => ({ client_id: clientId, version: eb('version', '+', 1) }))
      .where('company_id', '=', companyId)
      .where('client_note_id', '=', noteId)
      .execute();

  /** Each write refers to the one before it; a note moves to the next person before its own is erased. */
  const write = async (writes: Write[], isOver: () => boolean): Promise<void> => {
    let earlier: { readonly person: number; readonly note: number } | undefined;
    for (let round = 0; !isOver(); round++) {
      const affiliate = await makeAffiliate(db, companyId, {});
      writes.push({ record: `affiliate ${affiliate}`, version: 1 });
      const person = Number((await insertPerson(affiliate)).insertId);
      writes.push({ record: `person ${person}`, version: 1 });
      if (earlier && round % 40 === 0) {
        await moveNote(earlier.note, person);
        writes.push({ record: `note ${earlier.note}`, version: 2 });
        const erased = await crm.call('erasePerson', companyId, { params: [String(earlier.person)] });
        expect(erased.status).toBe(204);
        writes.push({ record: `person ${earlier.person}`, version: 2 });
      }
      const note = Number((await insertNote(person)).insertId);
      writes.push({ record: `note ${note}`, version: 1 });
      earlier = { person, note };
    }
  };

  const makeMany = (count: number) =>
    db
      .insertInto('employees')
      .values(
        Array.from({ length: count }, (_, at) => ({
          company_id: companyId,
          role_id: 6,
          first_name: 'Many',
          last_name: `${at}`,
          email: 'many@example.com',
        })),
      )
      .execute();

  /** So that numbering has work to do between its first row and its last. */
  const changeMany = () =>
    db
      .updateTable('employees')
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('company_id', '=', companyId)
      .where('first_name', '=', 'Many')
      .execute();

  test('the changes read to the end are the state of one moment, however fast records that refer to each other are made', async () => {
    await makeMany(400);
    let isOver = false;
    const written: readonly Write[][] = [[], [], [], []];
    const writers = Promise.all(written.map((writes) => write(writes, () => isOver)));
    writers.catch(() => {});
    const state: State = new Map();
    let cursor = '';
    for (let ends = 0; ends < 10; ) {
      await changeMany();
      for (let hasMore = true; hasMore; ) {
        const query = { limit: '1000', ...(cursor && { cursor }) };
        const { status, body } = await crm.ask('listChanges', companyId, query);
        expect(status).toBe(200);
        for (const { type, id, version } of body.changes) state.set(`${type} ${id}`, version);
        cursor = body.nextCursor;
        hasMore = body.hasMore;
      }
      ends++;
      const holes = written.map((writes) => missing(state, writes));
      expect({ ends, holes }).toEqual({ ends, holes: [[], [], [], []] });
    }
    isOver = true;
    await writers;
    for (const writes of written) expect(writes.length).toBeGreaterThan(20);
  });
});
