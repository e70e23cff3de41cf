import { eventTypes } from '@causeway/proto';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openTeam, type Team } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const makeKey = async ({ owner }: Team, name = 'Zapier', scopes = ['integrations:read']) =>
  owner.browser.ask('POST', '/keys', { name, scopes });

describe.concurrent('API keys at the portal', () => {
  test('a new key is shown once, works at once everywhere, and is listed masked', async () => {
    const team = await openTeam(world);
    const made = await makeKey(team, 'Zapier', ['events:read', 'integrations:read']);
    expect(made.status).toBe(201);
    const { value, ...shown } = made.json;
    expect(value).toMatch(new RegExp(`^crm_${team.companyId}_[0-9A-Za-z]{40}$`));
    expect(shown).toMatchObject({
      name: 'Zapier',
      scopes: ['integrations:read', 'events:read'],
      masked: `crm_${team.companyId}_…${value.slice(-4)}`,
      isActive: true,
      lastUsedUtc: null,
    });
    const replies = await Promise.all(Array.from({ length: 16 }, () => world.ask(lookup, { key: value })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    const listed = await team.owner.browser.ask('GET', '/keys');
    expect(listed.json.keys).toHaveLength(1);
    expect(listed.text).not.toContain(value);
  });

  test('permissions, name, note and expiry are changed, and apply to the next request everywhere', async () => {
    const team = await openTeam(world);
    const { json: key } = await makeKey(team, 'Zapier', ['integrations:read', 'events:read']);
    const change = (body: object, member = team.owner) =>
      member.browser.ask('PATCH', `/keys/${key.id}`, body);
    const expiresUtc = new Date(Date.now() + 90 * 86_400_000).toISOString();
    const changed = await change({ scopes: ['events:read'], note: ' in the vault ', expiresUtc });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      {
        id: key.id,
        name: 'Zapier',
        scopes: ['events:read'],
        note: 'in the vault',
        expiresUtc,
        isActive: true,
      },
    ]);
    const replies = await Promise.all(
      Array.from({ length: 16 }, () => world.ask(lookup, { key: key.value })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403]));
    expect((await world.ask('/events', { key: key.value })).status).toBe(200);
    expect((await change({ name: 'Make', note: null, expiresUtc: null })).json).toMatchObject({
      name: 'Make',
      note: null,
      expiresUtc: null,
      scopes: ['events:read'],
    });
    const { entries } = (await team.owner.browser.ask('GET', '/audit?action=key.changed')).json;
    expect(entries.map(({ before, after }: { before: object; after: object }) => [before, after])).toEqual([
      [
        { name: 'Zapier', note: 'in the vault', expiresUtc },
        { name: 'Make', note: null, expiresUtc: null },
      ],
      [
        { scopes: ['integrations:read', 'events:read'], note: null, expiresUtc: null },
        { scopes: ['events:read'], note: 'in the vault', expiresUtc },
      ],
    ]);
    // Nothing to change, and what must not be.
    expect((await change({})).status).toBe(400);
    expect((await change({ scopes: [] })).status).toBe(400);
    for (const time of ['2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z', 'tomorrow'])
      expect((await change({ expiresUtc: time })).status).toBe(400);
    const stranger = await openTeam(world);
    expect((await change({ name: 'mine' }, stranger.owner)).status).toBe(404);
    await team.owner.browser.ask('POST', `/keys/${key.id}/revoke`);
    expect((await change({ name: 'again' })).status).toBe(409);
    expect((await team.owner.browser.ask('GET', `/keys?ids=${key.id}`)).json.keys).toMatchObject([
      { name: 'Make', isActive: false },
    ]);
  });

  test('a rotated key has two secrets with one identity and one limit, until one of them is ended', async () => {
    const team = await openTeam(world);
    const { json: key } = await makeKey(team);
    await world.operator.ask('setLimits', { id: key.id, read: 30 });
    const post = (path: string, body?: object, member = team.owner) =>
      member.browser.ask('POST', `/keys/${key.id}${path}`, body);
    const statuses = async (value: string, count = 16) =>
      new Set(
        (
          await Promise.all(
            Array.from({ length: count }, () => world.ask('/integrations/me', { key: value })),
          )
        ).map(({ status }) => status),
      );
    for (const graceHours of [-1, 1.5, 169]) expect((await post('/rotate', { graceHours })).status).toBe(400);
    const rotated = await post('/rotate', { graceHours: 168 });
    expect(rotated.json).toMatchObject({ id: key.id, name: 'Zapier', previous: { masked: key.masked } });
    const { value } = rotated.json;
    expect([await statuses(key.value, 4), await statuses(value, 4)]).toEqual([
      new Set([200]),
      new Set([200]),
    ]);
    for (const secret of [key.value, value])
      expect((await world.ask('/integrations/me', { key: secret })).json.key.id).toBe(key.id);
    // In whichever windows they fall, both together get what the key may have.
    const asked = await Promise.all(
      Array.from({ length: 80 }, (_, at) => world.ask(lookup, { key: at % 2 ? value : key.value })),
    );
    const windows = Map.groupBy(asked, ({ headers }) => headers['x-ratelimit-reset']);
    for (const replies of windows.values())
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(Math.min(30, replies.length));
    // A second rotation while both work: refused, but for one that ends them.
    expect((await post('/rotate', { graceHours: 1 })).status).toBe(409);
    expect((await post('/rotation/end', { keep: 'new' })).json.previous).toBe(null);
    expect([await statuses(key.value), await statuses(value, 4)]).toEqual([new Set([401]), new Set([200])]);
    expect((await post('/rotation/end', { keep: 'old' })).status).toBe(409);
    const second = (await post('/rotate', { graceHours: 1 })).json.value;
    const third = (await post('/rotate', { graceHours: 0 })).json.value;
    expect([await statuses(value), await statuses(second), await statuses(third, 4)]).toEqual([
      new Set([401]),
      new Set([401]),
      new Set([200]),
    ]);
    const fourth = (await post('/rotate', { graceHours: 1 })).json.value;
    expect((await post('/rotation/end', { keep: 'old' })).status).toBe(200);
    expect([await statuses(fourth), await statuses(third, 4)]).toEqual([new Set([401]), new Set([200])]);
    const fifth = (await post('/rotate', { graceHours: 1 })).json.value;
    await post('/revoke');
    expect([await statuses(third), await statuses(fifth)]).toEqual([new Set([401]), new Set([401])]);
    expect((await post('/rotate', { graceHours: 1 })).status).toBe(409);
  });

  test('who rotated a key knows it when they leave', async () => {
    const team = await openTeam(world);
    const { json: key } = await makeKey(team);
    const developer = await team.join('developer');
    const rotated = await developer.browser.ask('POST', `/keys/${key.id}/rotate`, { graceHours: 1 });
    expect(rotated.status).toBe(200);
    const { keys } = (await team.owner.browser.ask('GET', `/team/members/${developer.id}/keys`)).json;
    expect(keys).toMatchObject([{ id: key.id }]);
  });

  test('a key is refused from its expiry on, and is then revoked by itself', async ({ expect }) => {
    const team = await openTeam(world);
    const expiresUtc = new Date(Date.now() + 15_000).toISOString();
    const made = await team.owner.browser.ask('POST', '/keys', {
      name: 'For a day',
      scopes: ['integrations:read'],
      expiresUtc,
    });
    expect((await world.ask(lookup, { key: made.json.value })).status).toBe(200);
    const find = async () => (await team.owner.browser.ask('GET', `/keys?ids=${made.json.id}`)).json.keys[0];
    await until('the expiry', () => Date.now() > Date.parse(expiresUtc));
    // Whether or not it was revoked yet: the gateway knows the time.
    expect((await world.ask(lookup, { key: made.json.value })).status).toBe(401);
    await expect.poll(find).toMatchObject({ isActive: false, expiresUtc });
    const { entries } = (await team.owner.browser.ask('GET', '/audit?action=key.revoked')).json;
    expect(entries).toMatchObject([{ actor: { kind: 'system' }, after: { reason: 'expired' } }]);
  });

  test('keys are listed by pages, active and revoked ones separately, and none is lost between pages', async () => {
    const team = await openTeam(world);
    const made: number[] = [];
    for (let at = 0; at < 7; at++) made.push((await makeKey(team, `key ${at}`)).json.id);
    await team.owner.browser.ask('POST', `/keys/${made[2]}/revoke`);
    const idsOf = async (filter: string): Promise<number[]> => {
      const ids: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path = `/keys?limit=2${filter}${cursor && `&cursor=${cursor}`}`;
        const { json } = await team.owner.browser.ask('GET', path);
        ids.push(...json.keys.map(({ id }: { id: number }) => id));
        expect(json.hasMore).toBe(json.nextCursor !== null);
        cursor = json.nextCursor;
      }
      return ids;
    };
    const newestFirst = made.toReversed();
    expect(await idsOf('')).toEqual(newestFirst);
    expect(await idsOf('&state=active')).toEqual(newestFirst.filter((id) => id !== made[2]));
    expect(await idsOf('&state=revoked')).toEqual([made[2]]);
    expect(await idsOf('&q=EY%205')).toEqual([made[5]]);
    expect(await idsOf('&q=nothing')).toEqual([]);
    for (const [at, day] of [
      [4, '2026-01-02'],
      [1, '2026-01-03'],
      [6, '2026-01-02'],
    ] as const)
      await world.sql('UPDATE api_keys SET last_used_utc = ? WHERE company_id = ? AND id = ?', [
        day,
        team.companyId,
        made[at],
      ]);
    const lastUsedFirst = [1, 6, 4, 5, 3, 2, 0].map((at) => made[at]);
    expect(await idsOf('&sort=used')).toEqual(lastUsedFirst);
    expect(await idsOf('&sort=unused')).toEqual(lastUsedFirst.toReversed());
    const byUse = (await team.owner.browser.ask('GET', '/keys?limit=2&sort=used')).json.nextCursor;
    expect((await team.owner.browser.ask('GET', `/keys?cursor=${byUse}`)).status).toBe(400);
    const other = await openTeam(world);
    const { nextCursor } = (await team.owner.browser.ask('GET', '/keys?limit=2')).json;
    const theirs = await other.owner.browser.ask('GET', `/keys?cursor=${nextCursor}`);
    expect([theirs.status, theirs.json.error]).toEqual([400, 'invalid cursor']);
  });
});

test('The catalog has every event type with a description, a schema and a sample', async () => {
  const { owner } = await openTeam(world);
  const { json } = await owner.browser.ask('GET', '/event-types');
  expect(json.eventTypes.map(({ type }: { type: string }) => type)).toEqual([...eventTypes]);
  for (const entry of json.eventTypes) {
    expect(entry.description).toMatch(/^A.+\.$/);
    expect(entry.schema.required.toSorted()).toEqual(Object.keys(entry.sample).toSorted());
  }
});
