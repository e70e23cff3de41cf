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
  id: number;
  version: number;
  mine: boolean;
}
const contacts = new Map<string, Contact>();
const names = ['first_name', 'last_name', 'email', 'phone', 'city'] as const;
const fieldsOf = (record: Json) => Object.fromEntries(names.map((name) => [name, record[name] ?? null]));

const push = async (all: readonly [string, Contact][]) => {
  for (let at = 0; at < all.length; at += 100) {
    const part = all.slice(at, at + 100);
    const items = part.map(([external_id, { fields }]) => ({ external_id, ...fields }));
    const { json } = await ask('/integrations/leads/batch', {
      method: 'POST',
      headers: { 'Idempotency-Key': randomUUID() },
      body: JSON.stringify({ mode: 'create', items }),
    });
    expect(json.results.filter(({ status }: Json) => status >= 300)).toEqual([]);
    for (const { index, body } of json.results) part[index]![1].id = body.client_id;
  }
};

/** Takes over what changed there; of a record that was edited on both sides, the fields that were edited there. */
const merge = (contact: Contact, record: Json) => {
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
    const { json } = await ask(`/integrations/changes?types=person&wait=${wait}${from}`);
    for (const { record } of json.changes) merge(contacts.get(record.external_id)!, record);
    cursor = json.nextCursor;
    if (!json.hasMore) return;
  }
};

let conflicts = 0;
const send = async (contact: Contact) => {
  const path = `/integrations/leads/${contact.id}`;
  for (;;) {
    contact.mine = false;
    const sent = { ...contact.fields };
    const headers = { 'If-Match': `"${contact.version}"` };
    const reply = await ask(path, { method: 'PATCH', headers, body: JSON.stringify(sent) });
    if (reply.status === 200) {
      contact.base = sent;
      // "Versions": an answer that is repeated has no ETag.
      if (reply.headers.etag) contact.version = Number(reply.headers.etag.slice(1, -1));
      else merge(contact, (await ask(path)).json);
      return;
    }
    // Edited there in between, or our own edit whose answer was lost.
    expect(reply.status).toBe(412);
    conflicts++;
    merge(contact, (await ask(path)).json);
  }
};

test('500 people stay the same in two systems, through conflicts, kills and echoes', async () => {
  for (let at = 0; at < 500; at++) {
    const fields = { first_name: 'A', last_name: `L${at}`, email: `a${at}@x.org`, phone: null, city: null };
    contacts.set(`x-${at}`, { fields, base: { ...fields }, id: 0, version: 1, mine: false });
  }
  const all = [...contacts];
  const pushing = push(all);
  await sleep(20);
  signal(world, 'crm-1', 'SIGKILL');
  await pushing;

  let editing = true;
  const edit = async () => {
    for (let at = 0; at < 60; at++) {
      const [, contact] = all[at * 7]!;
      const body = JSON.stringify({ phone: `+43 555 ${1000 + at}` });
      await ask(`/integrations/leads/${contact.id}`, { key: colleague, method: 'PATCH', body });
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
    for (const [, contact] of all) if (contact.mine) await send(contact);
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
