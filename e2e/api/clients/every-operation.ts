import type { Causeway } from '../../../proto/client/index.ts';

// Runs in Node and in a browser: it imports types alone.

/**
 * Calls every operation as a program would.
 * @param suffix makes `external_id`s unique in the company
 * @returns the methods that were called, such as `leads.create`
 */
export const callEveryOperation = async (
  client: Causeway,
  receiverUrl: string,
  suffix: string,
): Promise<readonly string[]> => {
  const called = new Set<string>();
  const causeway = noting(client, called);
  const expect = (what: string, given: unknown, wanted: unknown): void => {
    if (given !== wanted) throw new Error(`${what}: ${JSON.stringify(given)}, not ${JSON.stringify(wanted)}`);
  };
  const sinceUtc = new Date(Date.now() - 60_000).toISOString();

  const me = await causeway.me.get();
  expect('scopes', me.scopes.length, 5);
  await causeway.lookups.employees();
  await causeway.lookups.affiliates();
  const { statuses } = await causeway.lookups.clientStatuses();
  const paused = statuses.find(({ status_name }) => status_name === 'Client - Paused');

  const person = { first_name: 'Zoë', last_name: 'Byron', email: 'zoe@example.com' };
  const external_id = `lead-${suffix}`;
  const lead = await causeway.leads.create({ ...person, external_id });
  expect('status', lead.status, 'Lead - New');
  const exists = await causeway.leads
    .create({ ...person, external_id }, { ifNoneMatch: '*' })
    .catch(({ name }: Error) => name);
  expect('a create of what exists', exists, 'PreconditionFailed');
  const id = lead.client_id;
  const read = await causeway.leads.get(id);
  expect('an unchanged record', await causeway.leads.get(id, { ifNoneMatch: read.version }), null);
  await causeway.leads.update(id, { city: 'Bern' }, { ifMatch: read.version });
  const stale = await causeway.leads
    .update(id, { city: 'Basel' }, { ifMatch: read.version })
    .catch((error: { name: string; version: number }) => `${error.name} ${error.version}`);
  expect('a stale update', stale, `PreconditionFailed ${read.version + 1}`);
  expect('found', (await causeway.leads.find({ external_id })).clients[0]?.client_id, id);
  await causeway.leads.updateStatus(id, { new_status: 'Lead - Contacted' });
  const batch = await causeway.leads.batch({ mode: 'create', items: [{ ...person }, {}] });
  expect('batch', batch.results.map(({ status }) => status).join(), '201,400');

  const made = await causeway.clients.create({ ...person, external_id: `client-${suffix}` });
  const client_id = made.client_id;
  await causeway.clients.update(client_id, { phone: '+41 31 123 45 67' });
  await causeway.clients.updateStatus(client_id, { new_status_id: paused?.status_id ?? null });
  expect('phone', (await causeway.clients.get(client_id)).phone, '+41 31 123 45 67');
  expect('found', (await causeway.clients.find({ client_id })).count, 1);
  expect('searched', (await causeway.lookups.clients({ q: String(client_id) })).clients[0]?.id, client_id);
  await causeway.clients.batch({ mode: 'update', items: [{ client_id, city: 'Thun' }] });
  await causeway.notes.create(client_id, { text: 'Called.' });
  await causeway.notes.batch({ mode: 'create', items: [{ client_id, text: 'Called again.' }] });
  const notes: string[] = [];
  for await (const { text } of causeway.notes.list(client_id, { limit: 1 })) notes.push(text);
  expect('notes', notes.join(), 'Called.,Called again.');

  const affiliate = await causeway.affiliates.create({ ...person, commission_rate: 12.5 });
  await causeway.affiliates.update(affiliate.employee_id, { is_approved: true });
  expect('approved', (await causeway.affiliates.get(affiliate.employee_id)).is_approved, true);
  await causeway.affiliates.batch({ mode: 'create', items: [{ ...person, external_id: `a-${suffix}` }] });
  expect('affiliates', (await causeway.affiliates.list()).affiliates.length > 0, true);

  const { people } = await causeway.people.list({ external_id: [external_id, `client-${suffix}`] });
  expect('by external_id', people.map((one) => one.client_id).join(), `${id},${client_id}`);
  expect('read as a person', (await causeway.people.get(id)).city, 'Bern');
  await causeway.people.update(id, { city: 'Rome' });
  const renamed = await causeway.people.updateByExternalId({ external_id }, { city: 'Oslo' });
  expect('written as a person', (await causeway.people.get(id)).version, renamed.version);
  await causeway.people.erase(id);
  const erased = await causeway.people.get(id).catch(({ name }: Error) => name);
  expect('erased', erased, 'NotFound');
  const operations = new Set<string>();
  for await (const { id: changed, operation } of causeway.changes.list({ types: 'person' }))
    if (changed === id) operations.add(operation);
  expect('changes', [...operations].join(), 'delete');

  const { samples } = await causeway.events.samples({ type: 'invoice.created' });
  expect('samples', samples[0]?.event.type, 'invoice.created');
  const url = `${receiverUrl}/${suffix}`;
  const subscription = await causeway.subscriptions.create({ url, eventTypes: ['invoice.created'] });
  const hook = subscription.id;
  expect('test delivery', (await causeway.subscriptions.test(hook)).success, true);
  await causeway.subscriptions.update(hook, { name: 'Billing' });
  expect('name', (await causeway.subscriptions.get(hook)).name, 'Billing');
  expect('listed', (await causeway.subscriptions.list()).count > 0, true);
  expect('held', (await causeway.subscriptions.releaseHeld(hook)).count, 0);
  expect('held', (await causeway.subscriptions.discardHeld(hook)).count, 0);
  const event = await causeway.events.createTest({ type: 'invoice.created' });
  expect('event', (await causeway.events.get(event.id)).createdUtc, event.createdUtc);
  for await (const entry of causeway.events.list({ include: 'meta', type: 'invoice.created' }))
    expect('origin', entry.origin, `key:${me.key.id}`);

  for (;;) {
    const { deliveries } = await causeway.subscriptions.listDeliveries(hook, { state: 'succeeded' });
    if (deliveries.length > 0) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  expect('missing', (await causeway.subscriptions.listMissing(hook)).missing.length, 0);
  const replay = await causeway.replays.create(hook, {
    kind: 'filter',
    since: sinceUtc,
    states: ['succeeded'],
  });
  expect('replay', (await causeway.replays.get(replay.id)).subscriptionId, hook);
  expect('incidents', (await causeway.incidents.list({ subscriptionId: hook })).incidents.length, 0);
  expect('incident', (await causeway.incidents.get(1).catch(() => null)) === null, true);
  const { signingSecret } = await causeway.subscriptions.rotateSecret(hook, { overlapHours: 1 });
  expect('secret', signingSecret === subscription.signingSecret, false);
  await causeway.subscriptions.delete(hook);
  return [...called].sort();
};

const noting = (client: Causeway, called: Set<string>): Causeway =>
  Object.fromEntries(
    Object.entries(client).map(([resource, methods]: [string, Record<string, Method>]) => [
      resource,
      Object.fromEntries(
        Object.entries(methods).map(([name, method]) => [
          name,
          (...given: readonly unknown[]) => {
            called.add(`${resource}.${name}`);
            return method(...given);
          },
        ]),
      ),
    ]),
  ) as unknown as Causeway;

type Method = (...given: readonly unknown[]) => unknown;
