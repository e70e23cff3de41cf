import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { type BootedCrm, bootCrm } from './testing/boot.ts';
import { startCrmProcess } from './testing/process.ts';

let crm: BootedCrm;
beforeEach(async () => {
  crm = await bootCrm({ replicas: 0, tables: 'all' });
});

const companyId = 4101;
const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const notesLeft = async () =>
  Number(
    (await crm.database.query<{ left: number }>('SELECT COUNT(*) AS `left` FROM client_notes'))[0]!.left,
  );

test('an erasure goes on in the next process where the killed one stopped between two slices', async () => {
  const replica = await startCrmProcess(crm, process.env);
  const id: number = (await crm.act('createClient', companyId, person)).body.client_id;
  const { body: before } = await crm.ask('listChanges', companyId);
  const count = 20_000;
  for (let made = 0; made < count; made += 5_000) {
    const rows = Array.from(
      { length: 5_000 },
      () => `(${companyId}, ${id}, 'a', 'general', 'internal', NOW(3), NOW(3))`,
    );
    await crm.database.query(
      `INSERT INTO client_notes (company_id, client_id, text, note_type, visibility, created_utc, updated_utc)
       VALUES ${rows.join()}`,
    );
  }
  expect((await crm.call('erasePerson', companyId, { params: [String(id)] })).status).toBe(204);
  await expect.poll(notesLeft, { interval: 1 }).toBeLessThan(count - 500);
  await replica.kill();
  expect(await notesLeft()).toBeGreaterThan(0);
  await startCrmProcess(crm, process.env);
  await expect.poll(notesLeft).toBe(0);
  const gone: { type: string }[] = [];
  let cursor: string = before.nextCursor;
  const readOn = async () => {
    const { body } = await crm.ask('listChanges', companyId, { cursor, limit: '1000' });
    gone.push(...body.changes);
    cursor = body.nextCursor;
    return gone.at(-1)?.type;
  };
  await expect.poll(readOn, { interval: 1 }).toBe('person');
  expect(gone).toHaveLength(count + 1);
});

test('ids that a killed process had taken and not used are given to nobody', async () => {
  const replica = await startCrmProcess(crm, process.env);
  const creates = (part: string) =>
    Promise.allSettled(
      Array.from({ length: 150 }, async (_, at) => {
        await sleep(at);
        const email = `${part}${at}@example.com`;
        // As a gateway, which does not wait for a lost frame as long as `act` does.
        const { status, body } = await crm.write('createLead', companyId, { ...person, email });
        return status === 201 ? [[body.client_id as number, email] as const] : [];
      }),
    ).then((all) => all.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
  const loading = creates('first');
  await expect.poll(async () => (await crm.database.query('SELECT 1 FROM clients LIMIT 1')).length).toBe(1);
  await replica.kill();
  const [counter] = await crm.database.query<{ next_id: number }>('SELECT next_id FROM clients_seq');
  await startCrmProcess(crm, process.env);
  const first = await loading;
  const second = await creates('second');
  for (const [id] of second) expect(id).toBeGreaterThanOrEqual(counter!.next_id);
  type Row = { client_id: number; email: string };
  const rows = await crm.database.query<Row>('SELECT client_id, email FROM clients');
  const stored = new Map(rows.map((row) => [row.client_id, row.email]));
  for (const [id, email] of [...first, ...second]) expect(stored.get(id)).toBe(email);
});
