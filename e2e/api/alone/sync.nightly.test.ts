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

/** The other system. `base` is the record as both sides had it; `mine` is set while an edit here is not sent. */
interface Contact {
  fields: Record<string, string | null>;
  base: Record<string, string | null>;
  version: number;
  mine: boolean;
}
const contacts = new Map<string, Contact>();
const names = ['first_name', 'last_name', 'email', 'phone', 'city'] as const;
const fieldsOf = (record: Json) => Object.fromEntries(names.map((name) => [name, record[name] ?? null]));

/** Repeated with its key until each item is done or refused. */
const batch = async (mode: string, items: readonly object[]): Promise<readonly Json[]> => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = JSON.stringify({ mode, items });
  for (;;) {
    const { json } = await ask('/integrations/leads/batch', { method: 'POST', headers, body });
    if (json.results.every(({ status }: Json) => status < 500)) return json.results;
  }
};

const push = async (all: readonly [string, Contact][]) => {
  for (let at = 0; at < all.length; at += 100) {
    const part = all.slice(at, at + 100);
    const made = await batch(
      'create',
      part.map(([external_id, { fields }]) => ({ external_id, ...fields })),
    );
    expect(made.filter(({ status }) => status >= 300)).toEqual([]);
    for (const { index, body } of made) part[index]![1].version = body.version;
  }
};

/** Takes over what changed there; of a record that was edited on both sides, the fields that were edited there. */
const merge = (contact: Contact, record: Json) => {
  // An echo of what was sent from here.
  if (record.version <= contact.version) return;
  const theirs = fieldsOf(record);
  for (const name of names)
    if (theirs[name] !== contact.base[name]) contact.fields[name] = theirs[name] ?? null;
  contact.base = theirs;
  contact.version = record.version;
};

let cursor = '';
const pull = async (wait = 0) => {
  for (;;) {
    const from = cursor && `&cursor=${cursor}`;
    const { json } = await ask(`/integrations/changes?types=person&limit=1000&wait=${wait}${from}`);
    for (const { record } of json.changes) merge(contacts.get(record.external_id)!, record);
    cursor = json.nextCursor;
    if (!json.hasMore) return;
  }
};

let conflicts = 0;
/** The edited fields alone, in one request for up to 100 people, each if nobody has changed it since. */
const send = async () => {
  const edits = [...contacts].flatMap(([external_id, contact]) => {
    const fields = Object.entries(contact.fields).filter(([name, value]) => value !== contact.base[name]);
    contact.mine = false;
    return fields.length > 0 ? [{ external_id, contact, fields: Object.fromEntries(fields) }] : [];
  });
  const sent = edits.slice(0, 100);
  for (const { contact } of edits.slice(100)) contact.mine = true;
  if (sent.length === 0) return;
  const items = sent.map(({ external_id, contact, fields }) => ({
    ...{ external_id, if_version: contact.version, ...fields },
  }));
  for (const { index, status, body } of await batch('update', items)) {
    const { contact, fields } = sent[index]!;
    if (status === 200) {
      Object.assign(contact.base, fields);
      contact.version = body.version;
      continue;
    }
    // Edited there in between: the next pull brings it, and the edit is sent again.
    expect(status).toBe(412);
    conflicts++;
    contact.mine = true;
  }
};

test('500 people stay the same in two systems, through conflicts, kills and echoes', async () => {
  for (let at = 0; at < 500; at++) {
    const fields = { first_name: 'A', last_name: `L${at}`, email: `a${at}@x.org`, phone: null, city: null };
    contacts.set(`x-${at}`, { fields, base: { ...fields }, version: 0, mine: false });
  }
  const all = [...contacts];
  const pushing = push(all);
  await sleep(20);
  signal(world, 'crm-1', 'SIGKILL');
  await pushing;

  let editing = true;
  const edit = async () => {
    for (let at = 0; at < 60; at++) {
      const [externalId] = all[at * 7]!;
      const body = JSON.stringify({ phone: `+43 555 ${1000 + at}` });
      const path = `/integrations/people?external_id=${externalId}`;
      expect((await ask(path, { key: colleague, method: 'PATCH', body })).status).toBe(200);
      if (at === 20) signal(world, 'crm-2', 'SIGKILL');
    }
    editing = false;
  };
  const editHere = async () => {
    for (let at = 0; at < 60; at++) {
      const [, contact] = all[at * 6]!;
      contact.fields.city = `City ${at}`;
      contact.mine = true;
      await sleep(10);
    }
  };
  const edits = Promise.all([edit(), editHere()]);
  while (editing || all.some(([, { mine }]) => mine)) {
    await send();
    await pull(1);
  }
  await edits;
  await pull();

  const there = new Map<string, Json>();
  for (let at = 0; at < all.length; at += 100) {
    const query = all.slice(at, at + 100).map(([externalId]) => `external_id=${externalId}`);
    const { json } = await ask(`/integrations/people?${query.join('&')}`);
    expect(json.not_found).toEqual([]);
    for (const person of json.people) there.set(person.external_id, person);
  }
  for (const [at, [externalId, { fields }]] of all.entries()) {
    expect(fieldsOf(there.get(externalId))).toEqual(fields);
    if (at % 7 === 0 && at < 420) expect(fields.phone).toBe(`+43 555 ${1000 + at / 7}`);
    if (at % 6 === 0 && at < 360) expect(fields.city).toBe(`City ${at / 6}`);
  }
  expect(conflicts).toBeGreaterThan(0);
});
