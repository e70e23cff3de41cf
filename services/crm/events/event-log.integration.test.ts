import { encodeEnvelope, versionHeader } from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import { describe, expect, test } from 'vitest';
import { bootCrm } from '../testing/boot.ts';
import { readEvents } from '../testing/read-events.ts';
import { testEventLog } from '../testing/runner.ts';
import { newEvent } from './event-log.ts';

const crm = await bootCrm({ replicas: 2 });

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let company = 3000;
const newCompany = () => ++company;
const noted = (companyId: number, note: string) =>
  newEvent(companyId, 'client.status_changed', {
    client_id: 1,
    previous_status: 'a',
    new_status: 'b',
    changed_by_employee_id: null,
    status_note: note,
    changed_date: new Date().toISOString(),
  });
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describe('a reader in ascending order', () => {
  test('gets every event of concurrent writers once and in order, however late they commit', async () => {
    const companies = [newCompany(), newCompany()];
    const log = testEventLog(crm.db);
    let rolledBack = 0;
    /** Transactions that pause before and after their events, and sometimes roll back. */
    const write = async (writer: number): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const [first, second] = writer % 2 ? companies : companies.toReversed();
        const work = transaction(crm.db, async (trx) => {
          await trx
            .selectFrom('events')
            .select('event_id')
            .where('company_id', '=', first!)
            .limit(1)
            .execute();
          await pause(Math.random() * 8);
          const events = [noted(first!, `${writer}.${round}.a`), noted(second!, `${writer}.${round}.b`)];
          await log.write({ trx, now: new Date() }, [
            {
              companyId: first!,
              origin: 'system',
              events: round % 3 ? events : [events[0]!],
              changed: false,
            },
          ]);
          await pause(Math.random() * 8);
          if (round % 5 === 4) throw new Error('rolled back');
        });
        await work.catch((error: Error) => {
          if (error.message !== 'rolled back') throw error;
          rolledBack++;
        });
      }
    };
    let writing = true;
    const read = async (companyId: number) => {
      const seen: { sequence: number; note: string }[] = [];
      for (;;) {
        const stop = !writing;
        const events = await readEvents(crm.db, companyId, { after: seen.at(-1)?.sequence ?? 0, limit: 3 });
        for (const { sequence, payload } of events)
          seen.push({ sequence, note: JSON.parse(payload.toString()).status_note });
        if (stop && events.length === 0) return seen;
        if (events.length === 0) await pause(1);
      }
    };
    const reading = Promise.all(companies.map(read));
    await Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer)));
    writing = false;
    const seen = await reading;
    expect(rolledBack).toBe(4 * 5);
    for (const [at, companyId] of companies.entries()) {
      const all = await readEvents(crm.db, companyId, { after: 0, limit: 10_000 });
      expect(seen[at]!.map(({ sequence }) => sequence)).toEqual(all.map(({ sequence }) => sequence));
      // Without gaps: rolled-back transactions do not use up numbers.
      expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
      expect(new Set(seen[at]!.map(({ note }) => note)).size).toBe(all.length);
    }
    expect(seen.flat().length).toBe(4 * 20 * 2 - 4 * [0, 3, 6, 12, 15, 18, 21].length);
  });

  test('finds no gap where calls were refused, repeated or changed nothing', async () => {
    const companyId = newCompany();
    const lead = { ...person, external_id: 'one' };
    const answers = await Promise.all([
      crm.act('createLead', companyId, lead),
      crm.act('createLead', companyId, { ...person, employee_id: 404 }),
      crm.act('createClient', companyId, person),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 400, 201]);
    expect((await crm.act('createLead', companyId, lead)).status).toBe(200);
    const affiliate = await crm.act('createAffiliate', companyId, person);
    const events = await readEvents(crm.db, companyId, { after: 0, limit: 10 });
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(JSON.parse(events[2]!.payload.toString()).employee_id).toBe(affiliate.body.employee_id);
    const ids = events.slice(0, 2).map(({ payload }) => JSON.parse(payload.toString()).client_id);
    expect(ids.sort()).toEqual([answers[0]!.body.client_id, answers[2]!.body.client_id].sort());
  });

  test('gets a payload of an ingested event as it was sent, whatever its first number', async () => {
    const companyId = newCompany();
    const events = [
      { ...newEvent(companyId, 'lead.created', {} as never), payload: Buffer.from('{"client_id":-1}') },
    ];
    const log = testEventLog(crm.db);
    await transaction(crm.db, (trx) =>
      log.write({ trx, now: new Date() }, [{ companyId, origin: 'system', events, changed: false }]),
    );
    const [event] = await readEvents(crm.db, companyId, { after: 0, limit: 10 });
    expect(event!.payload.toString()).toBe('{"client_id":-1}');
  });
});

test('an envelope read from the table is the one that was published', async () => {
  const companyId = newCompany();
  const subscription = crm.bus.nc.subscribe(`events.${companyId}.>`, { max: 1 });
  await crm.bus.nc.flush();
  await crm.act('createClient', companyId, { ...person, first_name: 'Käthe "K" \\ 李', phone: '+1 555' });
  const [stored] = await readEvents(crm.db, companyId, { after: 0, limit: 1 });
  for await (const message of subscription) {
    expect(message.subject).toBe(`events.${companyId}.client.created`);
    expect(Buffer.from(message.data)).toEqual(encodeEnvelope(stored!));
    expect(message.headers?.get(versionHeader)).toBe('0');
    expect(Object.keys(message.json() as object)).toEqual([
      'id',
      'type',
      'createdUtc',
      'companyId',
      'payload',
    ]);
  }
});
