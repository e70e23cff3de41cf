import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { allReady, signal } from '../support/processes.ts';
import { type Json, openWorld } from '../support/world.ts';

// A two-way sync of 500 people, as an integrator writes it from the contract alone, while processes are killed.

const world = await openWorld();
const company = await world.company({ read: 1_000_000, write: 1_000_000 });
const [{ value: ours }, { value: colleague }] = [await company.key(), await company.key()];
afterAll(() => allReady(world));

/** As "Requests and errors" tells: what may or may not have been done is sent again. */
const ask = async (path: string, { key = ours, ...rest }: Json = {}): Promise<Json> => {
  for (;;) {
    const reply = await world.ask(path, { key, ...rest }).catch(() => undefined);
    if (reply && reply.status < 500) return reply;
    // As a client that does not flood a service which is away.
    await sleep(100);
  }
};

/** The other system. `base` is the record as both sides had it: nothing of a person whom only this side has. */
interface Contact {
  readonly fields: Json;
  base: Json;
  version: number;
}
const contacts = new Map<string, Contact>();
const names = ['first_name', 'last_name', 'email', 'phone', 'city'];
const fieldsOf = (record: Json) => Object.fromEntries(names.map((name) => [name, record[name] ?? null]));
const editsOf = ({ fields, base }: Contact) =>
  Object.entries(fields).filter(([at, value]) => value !== base[at]);
const isEdited = (contact: Contact) => editsOf(contact).length > 0;

let conflicts = 0;
/** New people, and of others the edited fields alone: in one request for up to 100, each if nobody has changed it since. */
const send = async () => {
  const edited = [...contacts].filter(([, contact]) => isEdited(contact)).slice(0, 100);
  const items = edited.map(([external_id, contact]) => ({
    ...{ external_id, ...Object.fromEntries(editsOf(contact)) },
    ...(contact.version > 0 && { if_version: contact.version }),
  }));
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = JSON.stringify({ mode: 'upsert', items });
  let results: readonly Json[] = [];
  // With the same key until each is done or refused.
  while (items.length > 0 && !(results.length > 0 && results.every(({ status }) => status < 500)))
    ({ results } = (await ask('/integrations/leads/batch', { method: 'POST', headers, body })).json);
  for (const { index, status, body: answer } of results) {
    const contact = edited[index]![1];
    const { external_id: _, if_version: __, ...sent } = items[index]!;
    // 412: edited there in between. The next pull brings it, and what is edited here is sent again.
    if (status === 412) conflicts++;
    else Object.assign(contact, { base: { ...contact.base, ...sent }, version: answer.version });
    expect([200, 201, 412]).toContain(status);
  }
};

let cursor = '';
/** Takes over what changed there; of a record that was edited on both sides, the fields that were edited there. */
const pull = async (wait = 0) => {
  const from = cursor && `&cursor=${cursor}`;
  const { json } = await ask(`/integrations/changes?types=person&limit=1000&wait=${wait}${from}`);
  for (const { record } of json.changes) {
    const contact = contacts.get(record.external_id)!;
    // An echo of what was sent from here.
    if (record.version <= contact.version) continue;
    const theirs = fieldsOf(record);
    for (const name of names) if (theirs[name] !== contact.base[name]) contact.fields[name] = theirs[name];
    Object.assign(contact, { base: theirs, version: record.version });
  }
  cursor = json.nextCursor;
  if (json.hasMore) await pull();
};

test('500 people stay the same in two systems, through conflicts, kills and echoes', async () => {
  for (let at = 0; at < 500; at++) {
    const fields = { first_name: 'A', last_name: `L${at}`, email: `a${at}@x.org`, phone: null, city: null };
    contacts.set(`x-${at}`, { fields, base: {}, version: 0 });
  }
  const all = [...contacts];
  setTimeout(() => signal(world, 'crm-1', 'SIGKILL'), 20);
  while (all.some(([, contact]) => isEdited(contact))) await send();

  const editThere = async () => {
    for (let at = 0; at < 60; at++) {
      const path = `/integrations/people?external_id=${all[at * 7]![0]}`;
      const body = { phone: `+43 555 ${1000 + at}` };
      expect((await ask(path, { key: colleague, method: 'PATCH', body })).status).toBe(200);
      if (at === 20) signal(world, 'crm-2', 'SIGKILL');
    }
  };
  const editHere = async () => {
    for (let at = 0; at < 60; at++, await sleep(10)) all[at * 6]![1].fields.city = `City ${at}`;
  };
  let editing = true;
  const edits = Promise.all([editThere(), editHere()]).finally(() => (editing = false));
  while (editing || all.some(([, contact]) => isEdited(contact))) {
    await send();
    await pull(1);
  }
  await edits;
  await pull();

  for (const [at, [externalId, { fields }]] of all.entries()) {
    const { json } = await ask(`/integrations/people?external_id=${externalId}`);
    expect(fieldsOf(json.people[0])).toEqual(fields);
    if (at % 7 === 0 && at < 420) expect(fields.phone).toBe(`+43 555 ${1000 + at / 7}`);
    if (at % 6 === 0 && at < 360) expect(fields.city).toBe(`City ${at / 6}`);
  }
  expect(conflicts).toBeGreaterThan(0);
});
