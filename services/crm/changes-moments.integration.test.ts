import { expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';
import { makeAffiliate, statusIds } from './testing/make.ts';

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
