import { conditionsTaken, keyOperations } from '@causeway/proto';
import { expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const { key } = await openCaller(world);

const headers = [
  ['If-Match', '"99"'],
  ['If-Match', '*'],
  ['If-None-Match', '*'],
  ['If-None-Match', '"1"'],
  ['If-Modified-Since', 'Wed, 01 Jan 2025 00:00:00 GMT'],
  ['If-Unmodified-Since', 'Wed, 01 Jan 2025 00:00:00 GMT'],
  ['If-Range', '"1"'],
] as const;

const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const writes = keyOperations.filter(({ method }) => method !== 'GET');

const send = (path: string, method: string, body: unknown, more: Record<string, string> = {}) =>
  world.ask(path, { key, method, body, headers: more });

let made = 0;
/** Records with the external_id `known` in each list, and where each operation finds one of its kind. */
const knownRecords = async () => {
  const externalId = `known-${++made}`;
  const known = { ...person, external_id: externalId };
  const lead = (await send('/integrations/leads', 'POST', known)).json.client_id;
  const client = (await send('/integrations/clients', 'POST', { ...known, external_id: `${externalId}-c` }))
    .json.client_id;
  const affiliate = (await send('/integrations/affiliates', 'POST', known)).json.employee_id;
  const note = { text: 'Hello', external_id: externalId };
  await send(`/integrations/clients/${client}/notes`, 'POST', note);
  return { externalId, known, lead, client, affiliate, note };
};
type Known = Awaited<ReturnType<typeof knownRecords>>;

const changed = { last_name: 'Changed' };
/** A request of each operation that takes a condition, about a record that exists at version 1. */
const requests: Readonly<Record<string, (known: Known) => [path: string, body: object]>> = {
  createLead: ({ known }) => ['/integrations/leads', { ...known, ...changed }],
  createClient: ({ known, externalId }) => [
    '/integrations/clients',
    { ...known, external_id: `${externalId}-c`, ...changed },
  ],
  createAffiliate: ({ known }) => ['/integrations/affiliates', { ...known, ...changed }],
  addClientNote: ({ client, note }) => [
    `/integrations/clients/${client}/notes`,
    { ...note, text: 'Changed' },
  ],
  updateLead: ({ lead }) => [`/integrations/leads/${lead}`, changed],
  updateClient: ({ client }) => [`/integrations/clients/${client}`, changed],
  updateLeadStatus: ({ lead }) => [`/integrations/leads/${lead}/status`, { new_status: 'Lead - Contacted' }],
  updateClientStatus: ({ client }) => [
    `/integrations/clients/${client}/status`,
    { new_status: 'Client - Paused' },
  ],
  updateAffiliate: ({ affiliate }) => [`/integrations/affiliates/${affiliate}`, changed],
  updatePerson: ({ client }) => [`/integrations/people/${client}`, changed],
  updatePersonByExternalId: ({ externalId }) => [`/integrations/people?external_id=${externalId}`, changed],
  erasePerson: ({ lead }) => [`/integrations/people/${lead}`, {}],
  batchLeads: ({ known }) => [
    '/integrations/leads/batch',
    { mode: 'create', items: [{ ...known, ...changed }] },
  ],
  batchClients: ({ client }) => [
    '/integrations/clients/batch',
    { mode: 'update', items: [{ client_id: client, ...changed }] },
  ],
  batchAffiliates: ({ known }) => [
    '/integrations/affiliates/batch',
    { mode: 'upsert', items: [{ ...known, ...changed }] },
  ],
  batchNotes: ({ client, note }) => [
    '/integrations/clients/notes/batch',
    { mode: 'create', items: [{ client_id: client, ...note, text: 'Changed' }] },
  ],
};

const idOf = (path: string): string =>
  path.endsWith('/notes') ? 'client_note_id' : path.includes('/affiliates') ? 'employee_id' : 'client_id';

/** Every record that the requests are about, with its version. */
const versionsOf = async ({ lead, client, affiliate }: Known) =>
  Promise.all(
    [`people/${lead}`, `people/${client}`, `affiliates/${affiliate}`, `clients/${client}/notes`].map(
      async (path) => {
        const { json } = await world.ask(`/integrations/${path}`, { key });
        return json.version ?? json.notes[0].version;
      },
    ),
  );

test.each(writes.map((operation) => [operation.id, operation] as const))(
  '%s honours each condition, or refuses it by name',
  async (id, operation) => {
    const known = await knownRecords();
    const taken = conditionsTaken(operation);
    const request = requests[id];
    if (taken.length > 0) expect(request).toBeDefined();
    const [path, body] = request?.(known) ?? [operation.path.replaceAll(/\{\w+\}/g, '1'), {}];
    for (const [name, value] of headers) {
      const isHonoured =
        (taken as readonly string[]).includes(name) && !(name === 'If-None-Match' && value !== '*');
      // The record exists, so this condition holds.
      if (isHonoured && name === 'If-Match' && value === '*') continue;
      const { status, json } = await send(path, operation.method, body, { [name]: value });
      const got = operation.isBatch && status === 200 ? json.results[0].status : status;
      expect([name, value, got]).toEqual([name, value, isHonoured ? 412 : 400]);
      if (!isHonoured)
        expect([json.details[0].field, json.error]).toEqual([name, expect.stringContaining(name)]);
      else if (name === 'If-None-Match' && !operation.isBatch)
        expect(json).toEqual({
          error: 'a record with this external_id exists',
          reason: 'already_exists',
          [idOf(path)]: expect.any(Number),
        });
    }
    expect(await versionsOf(known)).toEqual([1, 1, 1, 1]);
  },
);

test('If-Match on a create updates only', async () => {
  const { known, lead, client } = await knownRecords();
  const unknown = { ...person, external_id: `nobody-${made}` };
  for (const [path, body] of [
    ['leads', unknown],
    ['clients', unknown],
    ['affiliates', unknown],
    ['leads', person],
    [`clients/${client}/notes`, { text: 'Hello', external_id: `nobody-${made}` }],
  ] as const)
    for (const tag of ['*', '"1"']) {
      const { status, json } = await send(`/integrations/${path}`, 'POST', body, { 'If-Match': tag });
      expect([path, status, json]).toEqual([
        path,
        412,
        { error: 'no record with this external_id exists', reason: 'not_found' },
      ]);
    }
  const update = (tag: string, city: string) =>
    send('/integrations/leads', 'POST', { ...known, city }, { 'If-Match': tag });
  expect((await update('*', 'Graz')).headers.etag).toBe('"2"');
  expect((await update('"2"', 'Linz')).headers.etag).toBe('"3"');
  expect((await update('"2"', 'Wels')).json).toMatchObject({ reason: 'version_mismatch', version: 3 });
  expect((await world.ask(`/integrations/people/${lead}`, { key })).json.city).toBe('Linz');
});

test('A weak tag matches nothing, and the answer says so', async () => {
  const { lead } = await knownRecords();
  const { status, json } = await send(`/integrations/leads/${lead}`, 'PATCH', changed, {
    'If-Match': 'W/"1"',
  });
  expect([status, json]).toEqual([
    412,
    {
      error: 'a weak tag (W/) in If-Match matches no version; send the ETag without the W/',
      reason: 'version_mismatch',
      version: 1,
    },
  ]);
});

test('A condition is judged after the 404 of the record, and before what is wrong with the body’s values', async () => {
  const { lead, externalId } = await knownRecords();
  const wrong = { email: 'nope', employee_id: 1e9, unknown: 1 };
  const patch = (path: string, body: unknown, tag: string) =>
    send(`/integrations/${path}`, 'PATCH', body, { 'If-Match': tag });
  expect((await patch('leads/999999999', wrong, '"1"')).status).toBe(404);
  expect((await patch(`leads/${lead}`, wrong, '"7"')).status).toBe(412);
  expect((await patch(`leads/${lead}`, { employee_id: 1e9 }, '"7"')).status).toBe(412);
  expect((await patch(`leads/${lead}`, {}, '"7"')).status).toBe(412);
  expect((await patch(`leads/${lead}/status`, { new_status: 'none' }, '"7"')).status).toBe(412);
  expect((await patch(`leads/${lead}`, [], '"7"')).status).toBe(400);
  const held = await patch(`leads/${lead}`, wrong, '"1"');
  expect([held.status, held.json.details.map(({ field }: { field: string }) => field).sort()]).toEqual([
    400,
    ['email', 'employee_id', 'unknown'],
  ]);
  const create = (external_id: string) =>
    send('/integrations/leads', 'POST', { external_id, email: 'nope' }, { 'If-None-Match': '*' });
  expect((await create(externalId)).status).toBe(412);
  expect((await create(`other-${externalId}`)).status).toBe(400);
});

test('An item of a batch with if_version is refused alone', async () => {
  const { known, client, affiliate } = await knownRecords();
  const batch = async (kind: string, items: readonly object[], more = {}) => {
    const body = { mode: 'upsert', invalid: 'drop_optional', items };
    const { json } = await send(`/integrations/${kind}/batch`, 'POST', body, more);
    return json.results.map((one: { status: number; body: object }) => [one.status, one.body]);
  };
  const found = await batch('clients', [
    { client_id: client, city: 'Graz', if_version: 7 },
    { client_id: client, city: 'Linz', if_version: 1 },
    // The same record by its other name.
    { ...person, external_id: `${known.external_id}-c`, if_version: 1 },
    { ...person, external_id: 'nobody', if_version: 1 },
    { ...person, if_version: 'x' },
    { client_id: client, if_version: 7, email: 'nope' },
  ]);
  expect(found.map(([status]: [number]) => status)).toEqual([412, 409, 409, 412, 400, 412]);
  expect(found[0][1]).toMatchObject({ reason: 'version_mismatch', version: 1 });
  expect(found[3][1]).toMatchObject({ reason: 'not_found' });
  expect(found[4][1]).toMatchObject({ error: 'if_version must be a positive integer' });
  const again = await batch('affiliates', [
    { employee_id: affiliate, phone: '+43 1 555', if_version: 1 },
    { ...known, if_version: 2, last_name: 'Changed' },
  ]);
  expect(again.map(([status]: [number]) => status)).toEqual([200, 409]);
  const both = await batch('clients', [{ client_id: client, if_version: 1 }], { 'If-None-Match': '*' });
  expect(both[0]).toEqual([
    400,
    expect.objectContaining({ error: 'if_version must not be sent with If-None-Match' }),
  ]);
});

test('An erasure obeys If-Match', async () => {
  const { lead } = await knownRecords();
  const erase = (tag: string) =>
    world.ask(`/integrations/people/${lead}`, { key, method: 'DELETE', headers: { 'If-Match': tag } });
  expect((await erase('"99"')).json).toMatchObject({ reason: 'version_mismatch', version: 1 });
  expect((await erase('"1"')).status).toBe(204);
  expect((await erase('*')).status).toBe(404);
});
