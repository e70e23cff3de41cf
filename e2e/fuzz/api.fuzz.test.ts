import { basePath } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { openWorld } from '../api/support/world.ts';
import { spoil } from './changes.ts';
import { createDice } from './dice.ts';
import { breaksSchema, type Standing } from './judge.ts';
import { createLearned } from './learned.ts';
import { requestsOr, seed, timeoutFor, told } from './options.ts';
import { type MadeRequest, validRequest } from './requests.ts';
import { fuzz } from './run.ts';
import { readEndpoints } from './surface.ts';
import { openTenant } from './tenants.ts';

// The requests are made of the OpenAPI document alone: what it allows, and much that it does not.

const requests = requestsOr(1_000);
const timeoutMs = timeoutFor(requests);

const world = await openWorld();
const receiver = await testReceiver({ counting: true });
const endpoints = readEndpoints((await world.ask('/openapi.json?webhooks=false')).json);

/** How often operations that were not served yet are asked further requests. */
const maxMore = 20;

/** Each has few subscriptions that way, so that an event is not delivered to hundreds. */
const companies = 8;

/**
 * What a schema cannot tell: whether a record is there, whether a name is free, whether two fields agree, and which
 * keys and numbers JSON itself may have anywhere in a payload.
 */
const storedProblems =
  /must be an active|must be a valid status|must (not )?be a lead status|must agree|must be after since|already in use|cannot be changed here|no field to change|must equal the one in the path|is required|quota|does not include the event type|is not an allowed key|cannot be stored exactly|valid Unicode|NUL character|invalid cursor|types must be of|cannot be combined|unknown event type|needs order=asc|needs the kind filter|must have one of equals|has no field|the condition is for a|is there twice|must not be blank; send null|is set by Causeway|is not the name of a header|must be ASCII|q must be at least 2/;

test(
  'Requests made from the document get no answer that it does not describe, and every operation is asked',
  async () => {
    const dice = createDice(seed);
    const tenants = await Promise.all(Array.from({ length: companies }, () => openTenant(world)));
    const run = {
      base: `${basePath}/`,
      asksFirst: true,
      storedProblems,
      described: endpoints,
      requests,
      width: 32,
      dice,
      endpoints,
      learned: tenants.map(() => createLearned(receiver.url)),
      send: (made: MadeRequest, standing: Standing, who: number) =>
        world.ask(`/${made.path}`, tenants[who]!.ask(made, standing, dice)),
    };
    const runs = [await fuzz(run)];
    // It has come through to the work itself, everywhere.
    const unserved = () =>
      endpoints.filter(({ id }) =>
        runs.every(({ statuses }) => ![...(statuses.get(id)?.keys() ?? [])].some((status) => status < 300)),
      );
    // By chance an operation may have met no record that it takes: it depends on the order of the answers. If none is left, it needs one.
    const makers = endpoints.filter(({ method, path }) => method === 'POST' && !path.includes('{'));
    for (let more = 0; more < maxMore && unserved().length > 0; more++)
      for (const some of [makers, unserved()])
        runs.push(await fuzz({ ...run, requests: 100, endpoints: some }));
    for (const { findings, statuses } of runs)
      expect(findings.join('\n\n'), `seed ${seed}\n${told(statuses)}`).toBe('');
    expect(unserved().map(({ id }) => id)).toEqual([]);
  },
  timeoutMs,
);

test('A request that must be refused is refused, and changes nothing', async () => {
  const dice = createDice(seed);
  const tenant = await openTenant(world);
  const learned = createLearned(receiver.url, ['']);
  const standings = ['known', 'known', 'unknown', 'unscoped'] as const;
  const ask = (made: MadeRequest, standing: Standing) =>
    world.ask(`/${made.path}`, tenant.ask(made, standing, dice));
  // Something of every kind that could be changed. A request that waits for a change would be the slowest of its round.
  const quick = endpoints.filter(({ query }) => !('wait' in query));
  let before = await stateOf(tenant.id);
  for (let round = 0; round < 80 && before.some((rows) => rows.length === 0); round++) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const made = validRequest(dice, dice.pick(quick), learned);
        const reply = await ask(made, 'known');
        if (reply.status < 300) learned.note(made.endpoint, reply.json);
      }),
    );
    before = await stateOf(tenant.id);
  }
  expect(before.map((rows) => rows.length > 0)).toEqual(tables.map(() => true));
  // The payloads of people who were erased go by themselves.
  const erasing = 'SELECT client_id FROM erasures WHERE company_id = ? AND passes = 0';
  await until('payloads are gone', async () => (await world.sql(erasing, [tenant.id])).length === 0);
  before = await stateOf(tenant.id);
  const changing = endpoints.filter(({ method }) => method !== 'GET');
  const done: unknown[] = [];
  let left = Math.max(400, requests / 100);
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left > 0) {
        const made = spoil(dice, validRequest(dice, dice.pick(changing), learned));
        const standing = dice.pick(standings);
        if (standing === 'known' && !breaksSchema(made)) continue;
        left--;
        const { status, text } = await ask(made, standing);
        if (status < 400) done.push([made.method, made.path, made.body, standing, status, text]);
      }
    }),
  );
  expect(done).toEqual([]);
  expect(await stateOf(tenant.id)).toEqual(before);
}, 120_000);

/** Where a company's records are; what happens to a record by itself, as a delivery does, is elsewhere. */
const tables = ['employees', 'clients', 'client_notes', 'client_status_history', 'events', 'subscriptions'];
const stateOf = (companyId: number) =>
  Promise.all(tables.map((table) => world.sql('SELECT * FROM ?? WHERE company_id = ?', [table, companyId])));
