import type { Received } from '@causeway/runtime/testing';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import zapier, { type Bundle } from 'zapier-platform-core';
import { actions, events } from '../../proto/connectors/table.ts';
import app from '../../proto/connectors/zapier/index.ts';
import { keyOf } from '../../proto/connectors/zapier/names.ts';
import { type Json, openWorld } from './support/world.ts';

// The Zapier app in Zapier's own test harness, against the cluster.

const world = await openWorld();
const receiver = await testReceiver();
// biome-ignore lint/suspicious/noExplicitAny: the harness takes any method of the app.
const tester = zapier.createAppTester(app) as (method: any, bundle: object) => Promise<Json>;

const connect = async (
  scopes?: Parameters<Awaited<ReturnType<typeof world.company>>['key']>[0],
  limits = {},
) => {
  const company = await world.company({ read: 1000, write: 1000, ...limits });
  const { id: keyId, value: apiKey } = await company.key(scopes);
  const authData = { baseUrl: `${world.baseUrl}/api/v1/`, apiKey };
  return {
    company,
    keyId,
    run: (method: unknown, bundle: Partial<Bundle> | object = {}) => tester(method, { authData, ...bundle }),
    /** Runs an action or a search by its key. */
    step: (key: string, inputData: object = {}) => {
      const { creates, searches } = app as Json;
      return tester((creates[key] ?? searches[key]).operation.perform, { authData, inputData });
    },
    ask: (method: string, path: string, body?: object) => world.ask(path, { method, key: apiKey, body }),
  };
};

const trigger = (key: string): Json => app.triggers[key]!.operation;

const person = { first_name: 'Zoë', last_name: 'Byron', email: 'zoe@example.com' };

test('Zapier finds nothing to complain about', async () => {
  const handler = (zapier as Json).createAppHandler(app);
  const { results } = await handler({ command: 'validate' });
  expect(results).toEqual([]);
});

test('a connection is labelled with its company and key', async () => {
  const { company, run } = await connect();
  const me = await run(app.authentication.test);
  expect(me).toMatchObject({ company: { id: company.id, name: expect.any(String) }, key: { name: 'test' } });
  expect(app.authentication.connectionLabel).toBe('{{company.name}} ({{key.name}})');
});

test('every action and search works', async () => {
  const { step, run } = await connect();
  const [status] = await run(trigger('client_statuses').perform);
  const lead = await step('create_lead', { ...person, external_id: 'a' });
  const client = await step('create_client', { ...person, external_id: 'b', status: status.id });
  const affiliate = await step('create_affiliate', { ...person, commission_rate: 12.5 });
  expect(client.status).toBe(status.name);
  const done: Record<string, Json> = {
    create_lead: lead,
    create_client: client,
    create_affiliate: affiliate,
    create_note: await step('create_note', { client_id: lead.id, text: '{{bundle.authData.apiKey}}' }),
    find_lead: await step('find_lead', { external_id: 'a' }),
    find_client: await step('find_client', { email: person.email }),
    get_lead: await step('get_lead', { client_id: lead.id }),
    get_client: await step('get_client', { client_id: client.id }),
    get_person: await step('get_person', { client_id: lead.id }),
    get_affiliate: await step('get_affiliate', { employee_id: affiliate.id }),
    update_lead: await step('update_lead', { client_id: lead.id, city: 'Bern' }),
    update_client: await step('update_client', { client_id: client.id, city: 'Bern' }),
    update_person: await step('update_person', { client_id: lead.id, city: 'Rome' }),
    update_person_by_external_id: await step('update_person_by_external_id', {
      external_id: 'a',
      city: 'Oslo',
    }),
    update_affiliate: await step('update_affiliate', { employee_id: affiliate.id, is_approved: true }),
    update_lead_status: await step('update_lead_status', {
      client_id: lead.id,
      new_status: 'Lead - Contacted',
    }),
    update_client_status: await step('update_client_status', {
      client_id: client.id,
      new_status: 'Client - Paused',
    }),
  };
  expect(Object.keys(done).sort()).toEqual(actions.map(keyOf).sort());
  const ids = { lead: lead.id, client: client.id, person: lead.id, affiliate: affiliate.id } as Json;
  for (const [key, answer] of Object.entries(done)) {
    const [found] = Array.isArray(answer) ? answer : [answer];
    const record = /_(lead|client|person|affiliate)/.exec(key)?.[1];
    expect(found.id, key).toBe(record ? ids[record] : answer.client_note_id);
    expect(Object.keys(found), key).toEqual(expect.arrayContaining(Object.keys(sampleOf(key))));
  }
});

const sampleOf = (key: string): object => {
  const { creates, searches } = app as Json;
  return (creates[key] ?? searches[key]).operation.sample;
};

test('text with the syntax of a template stays text', async () => {
  const { step } = await connect();
  const hostile = { first_name: '{{bundle.authData.apiKey}}', last_name: '{{process.env.PATH}}' };
  const external_id = '{{bundle.inputData.email}}';
  const { id } = await step('create_lead', { ...person, ...hostile, external_id });
  expect(await step('get_lead', { client_id: id })).toMatchObject([hostile]);
  expect(await step('find_lead', { external_id, email: person.email })).toMatchObject([{ id, external_id }]);
  expect(await step('find_lead', { external_id: '{{other}}', email: person.email })).toEqual([]);
});

test('an update has the values of a sheet as the fields take them, and empties what it names', async () => {
  const { step } = await connect();
  const { id } = await step('create_lead', { ...person, zip: 23666, phone: 15550104477, city: 'Bern' });
  expect(await step('get_lead', { client_id: id })).toMatchObject([{ zip: '23666', phone: '15550104477' }]);
  await step('update_lead', { client_id: String(id), fields_to_empty: ['zip', 'phone'], city: 3000 });
  expect(await step('get_lead', { client_id: id })).toMatchObject([{ zip: null, phone: null, city: '3000' }]);
  const affiliate = await step('create_affiliate', person);
  await step('update_affiliate', { employee_id: affiliate.id, is_active: 'no', commission_rate: '12.50' });
  expect(await step('get_affiliate', { employee_id: affiliate.id })).toMatchObject([
    { is_active: false, commission_rate: 12.5 },
  ]);
});

test('what is not there is not found, and is then made; made twice, it is one', async () => {
  const { step } = await connect();
  expect(await step('find_client', { external_id: 'c' })).toEqual([]);
  expect(await step('get_client', { client_id: 1 })).toEqual([]);
  const { search, create } = app.searchOrCreates.find_client!;
  const [a, b] = await Promise.all([
    step(create, { ...person, external_id: 'c' }),
    step(create, { ...person, external_id: 'c' }),
  ]);
  expect(a.id).toBe(b.id);
  expect(await step(search, { external_id: 'c' })).toMatchObject([{ id: a.id }]);
});

test('drop-downs list what the lookups do', async () => {
  const { run, ask } = await connect();
  for (const [key, path, list, value, shown] of [
    ['employees', 'employees', 'employees', 'employee_id', 'full_name'],
    ['affiliates', 'affiliates', 'affiliates', 'affiliate_id', 'full_name'],
  ] as const) {
    const { json } = await ask('GET', `/integrations/lookups/${path}`);
    const items = json[list].map((item: Json) => ({ id: String(item[value]), name: item[shown] }));
    expect(await run(trigger(key).perform)).toEqual(items);
  }
  const leads = await run(trigger('lead_statuses').perform);
  const clients = await run(trigger('client_statuses').perform);
  const { json } = await ask('GET', '/integrations/lookups/client-statuses');
  expect(leads.length + clients.length).toBe(json.count);
  expect(leads.every(({ name }: Json) => name.startsWith('Lead'))).toBe(true);
});

describe('a refusal says what to do', () => {
  const said = (result: Promise<unknown>) =>
    result.then(
      () => expect.fail('it was not refused'),
      ({ name, message }: Error) => ({ name, message }),
    );

  test('of a limit, so that Zapier waits as long', async () => {
    const { step } = await connect(undefined, { write: 1 });
    await step('create_lead', person);
    // A second one if the minute has passed since the first.
    const { name, message } = await said(step('create_lead', person).then(() => step('create_lead', person)));
    expect(name).toBe('ThrottledError');
    expect(JSON.parse(message)).toEqual({
      message: expect.stringMatching(/retry after \d+ s/),
      delay: expect.any(Number),
    });
    expect(JSON.parse(message).delay).toBeGreaterThan(0);
  });

  test('of a revoked key, so that Zapier asks for another', async () => {
    const { step, keyId } = await connect();
    await world.operator.ask('revokeKey', { id: keyId });
    expect(await said(step('create_lead', person))).toMatchObject({
      name: 'ExpiredAuthError',
      message: expect.stringContaining('The API key is not valid'),
    });
  });
});

describe('a trigger', () => {
  const hook = (type: string): Json => trigger(type.replace('.', '_'));

  test.each(events.map(({ type }) => type))('of %s has a sample of its type for the editor', async (type) => {
    const { run } = await connect();
    const [listed] = await run(hook(type).performList);
    expect(listed).toMatchObject({ type, id: expect.any(Number) });
    expect(hook(type).sample.payload).toBeTypeOf('object');
    expect(Object.keys(hook(type).sample)).toEqual(Object.keys(listed));
  });

  test('subscribes once, takes signed deliveries alone, and unsubscribes', async () => {
    const { company, run, step, ask } = await connect();
    const path = `/${company.id}`;
    const targetUrl = `${receiver.url}${path}`;
    const { performSubscribe, performUnsubscribe, perform } = hook('lead.created');
    const subscribeData = await run(performSubscribe, { targetUrl });
    const again = await run(performSubscribe, { targetUrl });
    expect([again.id, again.signingSecret]).toEqual([subscribeData.id, subscribeData.signingSecret]);
    const { json } = await ask('GET', '/webhooks/subscriptions');
    expect(json).toMatchObject({
      count: 1,
      subscriptions: [{ managedBy: 'zapier', name: 'Zapier: Lead created' }],
    });

    const lead = await step('create_lead', person);
    const arrived = (): readonly Received[] => receiver.received.filter((one) => one.path === path);
    await until('the delivery', () => arrived().length > 0);
    const [{ headers, body }] = arrived() as [Received];
    const given = (more: object = {}, content = body.toString()) => {
      const named = Object.entries({ ...headers, ...more }).map(([name, value]) => [`Http-${name}`, value]);
      return run(perform, { subscribeData, rawRequest: { headers: Object.fromEntries(named), content } });
    };
    expect(await given()).toMatchObject([{ type: 'lead.created', payload: { client_id: lead.id } }]);
    expect(await given({ 'x-webhook-signature': `sha256=${'0'.repeat(64)}` })).toEqual([]);
    expect(await given({ 'x-webhook-timestamp': '1700000000' })).toEqual([]);
    expect(await given({}, body.toString().replace(person.last_name, 'Mallory'))).toEqual([]);
    expect(
      await run(perform, { subscribeData, rawRequest: { headers: {}, content: body.toString() } }),
    ).toEqual([]);

    await ask('POST', `/webhooks/subscriptions/${subscribeData.id}/test`, {});
    const test = arrived().find(({ body }) => JSON.parse(body.toString()).metadata?.test)!;
    expect(await given(test.headers, test.body.toString()), 'a test delivery').toEqual([]);

    await run(performUnsubscribe, { subscribeData });
    await run(performUnsubscribe, { subscribeData });
    expect((await ask('GET', '/webhooks/subscriptions')).json.count).toBe(0);
  });

  test('of changes begins from now, and brings each new version of a record', async () => {
    const { run, step, ask, keyId } = await connect();
    const { perform, sample } = trigger('record_changed');
    const poll = (meta = {}): Promise<readonly Json[]> =>
      run(perform, { meta, inputData: { kind: 'person' } });
    const lead = await step('create_lead', person);
    expect(await poll({ isPopulatingDedupe: true })).toEqual([]);
    await step('update_lead', { client_id: lead.id, city: 'Bern' });
    const other = await step('create_client', { ...person, email: 'other@example.com' });
    await ask('DELETE', `/integrations/people/${(await step('create_lead', person)).id}`);
    const changed = `person-${lead.id}-2`;
    const found = await poll();
    expect(found.map(({ id }) => id).sort()).toEqual([`person-${other.id}-1`, changed].sort());
    expect(found.find(({ id }) => id === changed)).toMatchObject({ city: 'Bern', record_type: 'person' });
    expect(await poll(), 'once more, for Zapier to skip').toEqual(found);
    expect(await poll()).toEqual([]);
    const [shown] = await poll({ isLoadingSample: true });
    expect(Object.keys(shown!)).toEqual(expect.arrayContaining(Object.keys(sample)));
    await world.operator.ask('revokeKey', { id: keyId });
    await expect(poll()).rejects.toThrow('The API key is not valid');
  });

  test('whose receiver is gone is switched off, and on again with the Zap', async () => {
    const { run, step, ask } = await connect();
    const targetUrl = `${receiver.url}/gone?status=410&n=1`;
    const { id } = await run(hook('lead.created').performSubscribe, { targetUrl });
    await step('create_lead', person);
    const read = async () => (await ask('GET', `/webhooks/subscriptions/${id}`)).json;
    await until('the subscription is off', async () => (await read()).enabled === false);
    expect((await read()).disabledReason).toContain('410');
    expect(await run(hook('lead.created').performSubscribe, { targetUrl })).toMatchObject({
      id,
      enabled: true,
    });
  });
});
