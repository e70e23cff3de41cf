import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { moveElsewhere, openBrowser, openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
beforeEach(moveElsewhere);

const wrong = 'not the password at all';
const refusal = { error: 'the email address or the password is wrong', reason: 'wrong_credentials' };

test('A member signs in with a cookie that scripts cannot read, and learns who they are', async () => {
  const { owner, companyId } = await openTeam(world);
  const browser = openBrowser(world);
  const reply = await browser.signIn(owner);
  expect(reply.status).toBe(200);
  expect(reply.json).toMatchObject({
    mfaRequired: false,
    user: { id: owner.id, email: owner.email, role: 'owner', totpEnabled: false, recoveryCodesLeft: 0 },
    company: { id: companyId },
    keyPrefix: 'crm',
    limits: { read: 60, write: 100, admin: 200, lookup: null },
    features: { allowHttp: true, allowPrivate: true },
  });
  expect(reply.headers['set-cookie']).toEqual([
    expect.stringMatching(/^causeway=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(/^causeway-device=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=34560000$/),
  ]);
  expect(reply.text).not.toContain(browser.cookie()!);
  const session = await browser.ask('GET', '/session');
  expect(session.status).toBe(200);
  const { mfaRequired, ...facts } = reply.json;
  expect(session.json).toEqual(facts);
  expect(Date.parse(facts.session.expiresUtc) - Date.parse(facts.session.createdUtc)).toBe(86_400_000);
});

test('The email address is case-insensitive; one in letters that only look alike is unknown', async () => {
  const { owner } = await openTeam(world);
  const upper = await openBrowser(world).signIn({ ...owner, email: ` ${owner.email.toUpperCase()} ` });
  expect(upper.status).toBe(200);
  const fullWidth = owner.email.replace(/^owner/, 'ｏwner');
  const reply = await openBrowser(world).signIn({ ...owner, email: fullWidth });
  expect([reply.status, reply.json]).toEqual([401, refusal]);
});

test('The token is not stored', async () => {
  const { owner } = await openTeam(world);
  const rows = await world.sql('SELECT HEX(token_hash) AS digest FROM portal_sessions WHERE user_id = ?', [
    owner.id,
  ]);
  expect(rows).toHaveLength(1);
  const stored = JSON.stringify(
    await world.sql('SELECT * FROM portal_sessions WHERE user_id = ?', [owner.id]),
  );
  expect(stored).not.toContain(owner.browser.cookie());
});

describe('A wrong password and an unknown address', () => {
  test('get the same answer', async () => {
    const { owner } = await openTeam(world);
    const browser = openBrowser(world);
    const known = await browser.signIn({ email: owner.email, password: wrong });
    const unknown = await browser.signIn({ email: `${randomUUID()}@example.com`, password: wrong });
    expect([known.status, known.json]).toEqual([401, refusal]);
    expect([unknown.status, unknown.json]).toEqual([401, refusal]);
    expect(Object.keys(known.headers).sort()).toEqual(Object.keys(unknown.headers).sort());
    expect(known.headers['set-cookie']).toBeUndefined();
  });

  test('take the same time: a password hash is computed for both', async () => {
    const { owner } = await openTeam(world);
    const browser = openBrowser(world);
    const elapsedMs = async (email: string): Promise<number> => {
      moveElsewhere();
      const startedMs = performance.now();
      expect((await browser.signIn({ email, password: wrong })).status).toBe(401);
      return performance.now() - startedMs;
    };
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round++) {
      known.push(await elapsedMs(owner.email));
      unknown.push(await elapsedMs(`${randomUUID()}@example.com`));
    }
    // The fastest of each: nothing makes a hash faster, and everything else on a busy machine makes some slower.
    const ratio = Math.min(...unknown) / Math.min(...known);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  test.each(['known', 'unknown'])('are delayed equally: %s', async (kind) => {
    const { owner } = await openTeam(world);
    const email = kind === 'known' ? owner.email : `${randomUUID()}@example.com`;
    const browser = openBrowser(world);
    for (let attempt = 1; attempt <= 5; attempt++)
      expect((await browser.signIn({ email, password: wrong })).status, `attempt ${attempt}`).toBe(401);
    // On a slow machine the first delays pass between two attempts; each delay is twice the previous one.
    let slowed = await browser.signIn({ email, password: wrong });
    for (let more = 0; more < 5 && slowed.status === 401; more++)
      slowed = await browser.signIn({ email, password: wrong });
    expect(slowed.status).toBe(429);
    expect(slowed.json).toEqual({
      error: expect.stringMatching(/^too many attempts; try again in \d+ s$/),
      reason: 'too_many_attempts',
      retryAfter: expect.any(Number),
    });
    expect(slowed.headers['retry-after']).toBe(String(slowed.json.retryAfter));
    expect(slowed.json.retryAfter).toBeLessThanOrEqual(32);
  });
});

describe('Failed attempts', () => {
  test('made concurrently are all counted', async () => {
    const { owner } = await openTeam(world);
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => openBrowser(world).signIn({ email: owner.email, password: wrong })),
    );
    expect(replies.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
    expect(replies.filter(({ status }) => status === 200)).toEqual([]);
  });
});
