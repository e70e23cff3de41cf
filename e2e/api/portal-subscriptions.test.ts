import { describe, expect, test } from 'vitest';
import { makeEvent, openTeam, type Team } from './support/portal.ts';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();

const subscribe = async ({ owner }: Team, more: Record<string, unknown> = {}): Promise<Json> => {
  const reply = await owner.browser.ask('POST', '/subscriptions', {
    url: 'https://hooks.example.com/a',
    eventTypes: ['client.created'],
    ...more,
  });
  expect(reply.status, reply.text).toBe(201);
  return reply.json;
};
const actionsOf = async ({ owner }: Team): Promise<string[]> =>
  (await owner.browser.ask('GET', '/audit?targetKind=subscription')).json.entries
    .map(({ action }: Json) => action)
    .toReversed();

describe('A subscription at the portal', () => {
  test('is created with its secret shown once, changed, disabled, enabled, rotated and deleted, with an audit entry for each', async () => {
    const team = await openTeam(world);
    const { browser } = team.owner;
    const { signingSecret, ...made } = await subscribe(team, { name: 'Billing' });
    expect(signingSecret).toMatch(/^whsec_/);
    expect(made).toMatchObject({
      name: 'Billing',
      enabled: true,
      managedBy: null,
      disabledUtc: null,
      previousSecretUntilUtc: null,
      health: {
        succeeded24h: 0,
        failed24h: 0,
        held: 0,
        waiting: 0,
        givenUp: 0,
        lastSuccessUtc: null,
        lastFailureUtc: null,
      },
    });
    const path = `/subscriptions/${made.id}`;
    expect((await browser.ask('GET', path)).json).toEqual(made);
    expect((await browser.ask('GET', '/subscriptions')).json).toEqual({ subscriptions: [made], count: 1 });
    const changed = await browser.ask('PATCH', path, { name: 'Invoices', eventTypes: ['invoice.created'] });
    expect(changed.json).toMatchObject({ name: 'Invoices', eventTypes: ['invoice.created'] });
    const off = await browser.ask('PATCH', path, { enabled: false });
    expect(off.json).toMatchObject({
      enabled: false,
      disabledReason: 'disabled through the portal',
      disabledUtc: expect.any(String),
    });
    expect((await browser.ask('PATCH', path, { enabled: true })).json).toMatchObject({
      enabled: true,
      disabledUtc: null,
    });
    const rotated = await browser.ask('POST', `${path}/rotate-secret`, { overlapHours: 2 });
    expect(rotated.json.signingSecret).not.toBe(signingSecret);
    expect(Date.parse(rotated.json.previousSecretUntilUtc)).toBeGreaterThan(Date.now() + 7_000_000);
    expect((await browser.ask('DELETE', path)).status).toBe(204);
    expect((await browser.ask('GET', path)).status).toBe(404);
    expect(await actionsOf(team)).toEqual([
      'subscription.created',
      'subscription.changed',
      'subscription.disabled',
      'subscription.enabled',
      'subscription.secret_rotated',
      'subscription.deleted',
    ]);
    const log = await browser.ask('GET', '/audit?action=subscription.changed');
    expect(log.json.entries[0]).toMatchObject({
      before: { name: 'Billing', eventTypes: ['client.created'] },
      after: { name: 'Invoices', eventTypes: ['invoice.created'] },
    });
    expect((await browser.ask('GET', '/audit')).text).not.toMatch(/whsec_/);
  });
});

describe('Events at the portal', () => {
  test('are listed and read, with personal data masked for viewers', async () => {
    const team = await openTeam(world);
    const viewer = await team.join('viewer');
    const developer = await team.join('developer');
    const made = await makeEvent(world, team, 'client.created');
    await makeEvent(world, team, 'lead.created', { note: 'call Kit' });
    const { json } = await developer.browser.ask('GET', '/events');
    expect(json.events.map(({ type }: Json) => type)).toEqual(['lead.created', 'client.created']);
    expect(json.events[1].payload.email).toBe('katherine@example.com');
    expect((await developer.browser.ask('GET', `/events/${made.id}`)).json).toEqual(json.events[1]);
    for (const path of ['/events', `/events/${made.id}`]) {
      const seen = await viewer.browser.ask('GET', path);
      expect(seen.status).toBe(200);
      expect(seen.text).not.toMatch(/Katherine|Johnson|katherine@|\+1|Kit/);
      expect(seen.text).toContain('1042');
    }
    const first = await developer.browser.ask('GET', '/events?limit=1');
    const second = await developer.browser.ask('GET', `/events?limit=1&cursor=${first.json.nextCursor}`);
    expect([...first.json.events, ...second.json.events]).toEqual(json.events);
    expect((await developer.browser.ask('GET', '/events?type=lead.created')).json.events).toHaveLength(1);
  });
});

test('A viewer sees no token in a receiver’s URL in any answer; a developer sees it', async () => {
  const team = await openTeam(world);
  const viewer = await team.join('viewer');
  const url = 'https://kit.example.com/hooks/T024BE7LD/s3cretPart?token=s3cretValue';
  const { id } = await subscribe(team, { url });
  const paths = ['/subscriptions', `/subscriptions/${id}`, '/deliveries', '/deliveries/stats'];
  for (const path of paths) {
    const seen = await viewer.browser.ask('GET', path);
    expect([path, seen.status]).toEqual([path, 200]);
    expect(seen.text).not.toMatch(/s3cret|T024BE7LD/);
  }
  const [shown, whole] = await Promise.all(
    [viewer, team.owner].map(({ browser }) => browser.ask('GET', `/subscriptions/${id}`)),
  );
  expect(shown!.json.url).toBe('https://kit.example.com/hooks/•••/•••?token=•••');
  expect(whole!.json.url).toBe(url);
});
