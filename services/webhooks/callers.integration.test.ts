import { createSessionSigner } from '@causeway/identity';
import type { Actor } from '@causeway/proto';
import { type LaneCall, parseKeyRing } from '@causeway/runtime';
import { testLane } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { bootWebhooks } from './testing/boot.ts';

const { bus, callers, database } = await bootWebhooks();
const [mine, theirs] = [1001, 1002];

/** A compromised gateway. */
const lane = testLane(bus, 'webhooks');
const send = async (operation: string, fields: Partial<LaneCall>) => {
  const { status, body } = await lane({ operation, tenant: mine, caller: 1, ...fields });
  return { status, body: body.toString() };
};
const address = '203.0.113.9';
const subscription = Buffer.from(
  JSON.stringify({ url: 'https://hooks.example.com/a', eventTypes: ['client.created'] }),
);

const ada = { id: 7, sessionId: 70, email: 'ada@example.com', name: 'Ada', role: 'developer' } as const;
const portal = async (actor: Partial<Actor>, operation = 'listPortalSubscriptions', body?: Buffer) =>
  send(operation, {
    caller: actor.user?.id ?? 0,
    actor: { user: ada, address, userAgent: '', ...actor },
    ...(body && { body }),
  });

test('the member of a call is the one that access signed for, whatever the gateway says', async () => {
  expect((await portal({ proof: callers.session(mine, ada) })).status).toBe(200);
  // With the role of an owner and another name: the proof decides.
  const owner = { ...ada, id: 1, name: 'Somebody else', role: 'owner' } as const;
  const viewer = { ...ada, role: 'viewer' } as const;
  const create = (actor: Partial<Actor>) => portal(actor, 'createPortalSubscription', subscription);
  expect((await create({ user: owner, proof: callers.session(mine, viewer) })).status).toBe(403);
  expect((await create({ user: owner, proof: callers.session(mine, ada) })).status).toBe(201);
  const [entry] = await database.query('SELECT * FROM audit_log ORDER BY audit_id DESC LIMIT 1');
  expect(entry).toMatchObject({ actor_kind: 'user', actor_id: 7, actor_name: 'Ada', address });
});

test('a session proof that is absent, forged, changed, for another company or too old is refused', async () => {
  expect((await portal({})).status).toBe(401);
  expect((await portal({ proof: 'test' })).status).toBe(401);
  const stranger = createSessionSigner(parseKeyRing(`test:${Buffer.alloc(32, 1).toString('base64')}`));
  const claims = { companyId: mine, user: ada, untilMs: Date.now() + 60_000 };
  expect((await portal({ proof: stranger.prove(claims) })).status).toBe(401);
  const unknown = createSessionSigner(parseKeyRing(`other:${Buffer.alloc(32, 1).toString('base64')}`));
  expect((await portal({ proof: unknown.prove(claims) })).status).toBe(401);
  const [id, , signature] = callers.session(mine, ada).split('.');
  const changed = Buffer.from(JSON.stringify({ ...claims, user: { ...ada, role: 'owner' } }));
  expect((await portal({ proof: `${id}.${changed.toString('base64url')}.${signature}` })).status).toBe(401);
  expect((await portal({ proof: callers.session(theirs, ada) })).status).toBe(401);
  expect((await portal({ proof: callers.session(mine, ada, -1000) })).status).toBe(401);
});

test('an API key gives no access to the portal, and a session none to the interface', async () => {
  const key = await callers.key(mine);
  expect((await send('listPortalSubscriptions', { key })).status).toBe(401);
  const actor = { user: ada, address, userAgent: '', proof: callers.session(mine, ada) };
  expect((await send('listSubscriptions', { actor })).status).toBe(401);
});

test('the audit entry of a change made with a key has the address of its client', async () => {
  const key = { ...(await callers.key(mine)), address: '198.51.100.23' };
  expect((await send('createSubscription', { key, body: subscription })).status).toBe(201);
  const [entry] = await database.query('SELECT * FROM audit_log ORDER BY audit_id DESC LIMIT 1');
  expect(entry).toMatchObject({ actor_kind: 'key', actor_id: 1, address: '198.51.100.23' });
});
