import { randomBytes } from 'node:crypto';
import { connectDatabase, type Database, transaction } from '@causeway/runtime';
import { rowOf, testDatabase } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { personActions } from '../actions/people.ts';
import type { CommittedEvent } from '../events/event-log.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { crmMigrations } from '../testing/boot.ts';
import { makeClient } from '../testing/make.ts';
import { testEventLog, testRunner } from '../testing/runner.ts';
import { createRecordIds, type RecordIds } from './ids.ts';

const database = await testDatabase({ folders: crmMigrations });
const connect = (): Database<Tables> => {
  const db = connectDatabase<Tables>({ url: database.url, poolSize: 4, tenantTables });
  onTestFinished(() => db.close());
  return db;
};
const kinds: readonly (keyof RecordIds)[] = ['clients', 'affiliates', 'notes', 'events'];

test.each(kinds)('ids of %s ascend, and no two processes get the same', async (kind) => {
  const processes = Array.from({ length: 3 }, () => createRecordIds(connect())[kind]);
  const taken = await Promise.all(
    processes.map(async (ids) => {
      const own: number[] = [];
      for (const count of [1, 70, 0, 300, 5, 1]) own.push(...(await ids.take(count)));
      return own;
    }),
  );
  for (const own of taken) {
    expect(own).toHaveLength(377);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(new Set(taken.flat()).size).toBe(3 * 377);
});

test('nothing of a block is left in the tables', async () => {
  const ids = createRecordIds(connect());
  for (const kind of kinds) await ids[kind].take(1);
  for (const table of ['clients', 'employees', 'client_notes', 'events'])
    expect(await database.query('SELECT * FROM ?? WHERE company_id = 0', [table])).toEqual([]);
});

test('rows that another program inserts without an id get none of a block', async () => {
  const db = connect();
  const ids = createRecordIds(db).clients;
  const own: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < 40; round++) {
    const [id] = await ids.take(round % 7 === 0 ? 90 : 1);
    await makeClient(db, 1, { client_id: id! });
    own.push(id!);
    theirs.push(...(await Promise.all([makeClient(db, 2), makeClient(db, 2)])));
  }
  expect(new Set([...own, ...theirs]).size).toBe(120);
});

const poolSize = 4;

test.each([2, 7])('creates get their own ids where AUTO_INCREMENT advances by %s', async (increment) => {
  // Sessions set 1, so this is stronger than what a server can be configured to do.
  const db = database.connect<Tables>({ tenantTables, poolSize });
  const arrived: (() => void)[] = [];
  const together = new Promise<void>((resolve) => arrived.push(resolve));
  let count = 0;
  await Promise.all(
    Array.from({ length: poolSize }, () =>
      transaction(db, async (trx) => {
        await sql`SET SESSION auto_increment_increment = ${sql.lit(increment)}, auto_increment_offset = 2`.execute(
          trx,
        );
        if (++count === poolSize) arrived[0]!();
        await together;
      }),
    ),
  );
  const published: CommittedEvent[] = [];
  const runner = testRunner(
    db,
    testEventLog(db, (events) => void published.push(...events)),
  );
  const { create } = personActions.lead;
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const email = `${increment}-${at}@example.com`;
      const companyId = 100 * increment + (at % 2);
      const callId = randomBytes(16);
      callId[0]! &= 0x7f;
      const submission = {
        companyId,
        recordId: 0,
        origin: 'key:1',
        body: { first_name: 'A', last_name: 'B', email },
      };
      const identity = { companyId, callId, key: callId, fingerprint: null, again: false };
      const answer = await runner.submit(create, submission, performance.now() + 60_000, identity);
      const told = JSON.parse(String(answer.body)).client_id as number;
      return { companyId, email, told, key: callId };
    }),
  );
  for (const { companyId, email, told, key } of answers) {
    const of = (table: 'clients' | 'client_search_pending') =>
      db.selectFrom(table).selectAll().where('company_id', '=', companyId).where('client_id', '=', told);
    expect(await of('clients').executeTakeFirst()).toMatchObject({ email });
    expect(await of('client_search_pending').executeTakeFirst()).toBeDefined();
    const event = published.find(({ payload }) => JSON.parse(String(payload)).email === email)!;
    expect(JSON.parse(String(event.payload)).client_id).toBe(told);
    const stored = await db
      .selectFrom('events')
      .innerJoin('event_outbox', (join) =>
        join
          .onRef('event_outbox.company_id', '=', 'events.company_id')
          .onRef('event_outbox.event_id', '=', 'events.event_id'),
      )
      .select('events.client_id')
      .where('events.company_id', '=', companyId)
      .where('event_outbox.company_id', '=', companyId)
      .where('events.event_id', '=', event.event_id)
      .executeTakeFirst();
    expect(stored).toEqual({ client_id: told });
    const { answer } = await rowOf(db, 'idempotency_keys', companyId, { idempotency_key: key });
    expect(JSON.parse(String(answer)).client_id).toBe(told);
  }
});

test('the ids of a process that pauses are not older than two seconds', async () => {
  const [first, second] = [createRecordIds(connect()).clients, createRecordIds(connect()).clients];
  await first.take(1);
  const [earlier] = await second.take(1);
  await expect.poll(async () => (await first.take(1))[0]!).toBeGreaterThan(earlier!);
});
