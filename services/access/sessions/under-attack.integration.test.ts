import { setTimeout as sleep } from 'node:timers/promises';
import { type Actor, deviceHeader, resolveSessionOperation, sessionTokenHeader } from '@causeway/proto';
import { randomHex } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { beforeEach, describe, expect, test } from 'vitest';
import { openPortal, testPassword as password } from '../testing/boot.ts';
import { handleOf } from './assertions.ts';

// Strangers guess passwords: the effect on members and operators.

/** Starts at the beginning of a day (UTC), because attempts are counted by day. Tests advance it. */
let clockMs = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
const { world, operator: ask, send } = await openPortal({ now: () => new Date(clockMs) });

const wrong = 'not the password at all';
const from = (address: string): Actor => ({ user: null, address, userAgent: 'test' });
const signIn = async (email: string, given: string, address: string): Promise<number> =>
  (await send('signIn', { actor: from(address), body: { email, password: given } })).status;
const newEmail = (): string => `${randomHex(6)}@example.com`;

const newOwner = async () => {
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const email = newEmail();
  const { id } = (await ask('createPortalOwner', { company_id, email, password })).body;
  return { email, id: id as number, tenant: company_id as number };
};
const newMember = async () => {
  const owner = await newOwner();
  const answer = await send('signIn', { actor: from('192.0.2.1'), body: { email: owner.email, password } });
  const token = answer.headers?.[sessionTokenHeader] ?? '';
  const sessionId = JSON.parse(answer.body.toString()).session.id as number;
  const user = { id: owner.id, sessionId, email: owner.email, name: '', role: 'owner' } as const;
  return { ...owner, actor: { ...from('192.0.2.1'), user, token } };
};

/** Without those that only the audit log shows: they are counted after the answer (`noteRefused`). */
const delays = () =>
  world.database.query(
    `SELECT HEX(subject) AS subject, failures FROM sign_in_delays WHERE subject NOT IN (
       SELECT UNHEX(SHA2(CONCAT_WS('\n', 'password.refused', company_id, id, ?), 256)) FROM portal_users)`,
    [new Date(clockMs).toISOString().slice(0, 10)],
  );
beforeEach(async () => {
  await world.database.query('DELETE FROM sign_in_delays');
  clockMs += 60_000; // Nothing that is remembered is trusted that long.
});

/** Locks a table, so that every query on it waits until the returned function is called. */
const hold = async (table: string): Promise<() => Promise<void>> => {
  const connection = await createConnection(world.database.url);
  cleanUp(() => connection.destroy());
  await connection.query(`LOCK TABLES ${table} WRITE`);
  return async () => void (await connection.query('UNLOCK TABLES'));
};

describe('An attempt that must wait', () => {
  test('is refused without a query, a lock or a hash', async () => {
    const { email } = await newOwner();
    for (let guess = 1; guess <= 6; guess++) await signIn(email, wrong, '203.0.113.1');
    const before = await delays();
    const release = await hold('sign_in_delays');
    const statuses = await Promise.all(
      Array.from({ length: 200 }, () => signIn(email, wrong, '203.0.113.1')),
    );
    await release();
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(await delays()).toEqual(before);
  });

  test('writes no row for an account that its network has not guessed before', async () => {
    for (let guess = 1; guess <= 30; guess++) {
      await signIn(newEmail(), wrong, '203.0.113.1');
      if (guess < 25) continue;
      clockMs += 2000;
    }
    const before = await delays();
    const statuses = [];
    for (let guess = 1; guess <= 20; guess++) statuses.push(await signIn(newEmail(), wrong, '203.0.113.1'));
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(await delays()).toEqual(before);
  });

  test('counts for the /64 of an IPv6 address', async () => {
    const { email } = await newOwner();
    const statuses: number[] = [];
    for (let guess = 1; guess <= 6; guess++)
      statuses.push(await signIn(email, wrong, `2001:db8:1:2::${guess}`));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await signIn(email, wrong, '2001:db8:1:3::1')).toBe(401);
  });
});

test('Strangers who fill their gate do not keep members and operators from the database', async () => {
  const member = await newMember();
  const { id: keyId } = (await ask('createKey', { company_id: member.tenant, name: 'x', scopes: ['admin'] }))
    .body;
  // Every attempt that passes the gate now stays inside.
  const release = await hold('sign_in_delays');
  const flood = Promise.all(
    Array.from({ length: 100 }, (_, at) => signIn(newEmail(), wrong, `203.0.113.${at}`)),
  );
  // Time for the flood to fill the gate and its queue.
  await sleep(200);
  expect((await send('getSession', member)).status).toBe(200);
  expect(
    (await send(resolveSessionOperation, { body: { token: member.actor.token, passive: false } })).status,
  ).toBe(200);
  expect((await ask('revokeKey', { id: keyId })).status).toBe(200);
  await release();
  const statuses = await flood;
  // 1 inside and 16 waiting.
  expect(statuses.filter((status) => status === 503)).toHaveLength(83);
  expect(statuses.filter((status) => status === 401)).toHaveLength(17);
});

describe('A flood of sign-ins that fills the gate of hashes', () => {
  const open = (operation: Parameters<typeof send>[0], body: object, more = {}) =>
    send(operation, { actor: { ...from('198.51.100.77'), ...more }, body }).then(({ status }) => status);
  const token = 'x'.repeat(43);

  test('shuts out neither passkeys nor links', async () => {
    const release = await hold('sign_in_delays');
    const flood = Promise.all(
      Array.from({ length: 100 }, (_, at) => signIn(newEmail(), wrong, `203.0.113.${at}`)),
    );
    expect(await Promise.all([open('startPasskeySignIn', {}), open('getInvitation', { token })])).toEqual([
      200, 410,
    ]);
    expect(await open('getPasswordReset', { token })).toBe(410);
    const accepted = { token, name: 'Ada', password };
    expect(await open('acceptInvitation', accepted)).toBe(410);
    expect(await open('resetPassword', { token, password })).toBe(410);
    await release();
    expect((await flood).filter((status) => status === 503)).toHaveLength(83);
  });

  test('is not followed by one of links that shuts out sign-ins, passkeys or other links', async () => {
    const { email } = await newOwner();
    const release = await hold('portal_invitations');
    const flood = Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        send('getInvitation', { actor: from(`203.0.113.${at}`), body: { token } }),
      ),
    );
    expect(await open('startPasskeySignIn', {})).toBe(200);
    expect(await open('getPasswordReset', { token })).toBe(410);
    expect(await signIn(email, password, '198.51.100.78')).toBe(200);
    await release();
    expect((await flood).filter(({ status }) => status === 503)).toHaveLength(200 - 65);
  });

  test('of passkeys leaves a device that is known for the membership its way', async () => {
    const owner = await newOwner();
    const answer = await send('signIn', {
      actor: from('192.0.2.1'),
      body: { email: owner.email, password },
    });
    const device = answer.headers?.[deviceHeader] ?? '';
    const credentialOf = (companyId: number, userId: number) => ({
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: 'AAAA',
        authenticatorData: 'AAAA',
        signature: 'AAAA',
        userHandle: Buffer.from(handleOf({ companyId, userId })).toString('base64url'),
      },
    });
    const credential = credentialOf(owner.tenant, owner.id);
    const release = await hold('sign_in_delays');
    const flood = Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        send('signInWithPasskey', {
          actor: from(`203.0.113.${at}`),
          body: { credential: credentialOf(at + 1, at + 1) },
        }),
      ),
    );
    expect(await open('startPasskeySignIn', {})).toBe(200);
    const stranger = open('signInWithPasskey', { credential });
    const known = open('signInWithPasskey', { credential }, { device });
    const other = open('signInWithPasskey', { credential: credentialOf(1, 1) }, { device });
    expect(await Promise.all([stranger, other])).toEqual([503, 503]);
    await release();
    expect(await known).toBe(401);
    await flood;
  });
});

test('Strangers of one network get only a part of the queue', async () => {
  const release = await hold('sign_in_delays');
  const flood = Promise.all(Array.from({ length: 60 }, () => signIn(newEmail(), wrong, '203.0.113.9')));
  const { email } = await newOwner();
  const other = signIn(email, password, '198.51.100.1');
  await release();
  expect(await other).toBe(200);
  expect((await flood).filter((status) => status === 429)).toHaveLength(52);
});

test('A flood that fills the queue leaves hashes for addresses that exist and were not guessed at', async () => {
  const owners = await Promise.all(Array.from({ length: 5 }, newOwner));
  const [guessed, mistyped] = [await newOwner(), await newOwner()];
  await signIn(guessed.email, wrong, '203.0.113.250');
  let floods = 0;
  /** With the flood and those that it shuts out. @returns the answers to the right passwords. */
  const underFlood = async (): Promise<readonly number[]> => {
    const network = `10.${++floods}`;
    const flood = Array.from({ length: 200 }, (_, at) => signIn(newEmail(), wrong, `${network}.${at}.1`));
    const right = owners.map(({ email }, at) => signIn(email, password, `${network}.${at}.2`));
    const closed = [
      signIn(guessed.email, password, `${network}.20.2`),
      signIn(newEmail(), wrong, `${network}.21.2`),
      // The answer does not tell that this password was compared.
      signIn(mistyped.email, wrong, `${network}.22.2`),
    ];
    expect(await Promise.all(closed)).toEqual([503, 503, 503]);
    expect((await Promise.all(flood)).filter((status) => status === 503).length).toBeGreaterThan(100);
    return Promise.all(right);
  };
  // A hash that takes this machine more than a second is answered as if there were none.
  await expect.poll(underFlood).toContain(200);
});

test('A made-up session token is refused without a query', async () => {
  const release = await hold('portal_sessions');
  const statuses = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const token = Buffer.from(randomHex(32), 'hex').toString('base64url');
      return (await send(resolveSessionOperation, { body: { token, passive: false } })).status;
    }),
  );
  await release();
  expect(new Set(statuses)).toEqual(new Set([401]));
});

describe('Guesses at an account', () => {
  test('wait twice as long each time, up to a quarter of an hour, and the right password is no exception', async () => {
    const { email } = await newOwner();
    const waits: number[] = [];
    for (let guess = 1; guess <= 17; guess++) {
      expect(await signIn(email, wrong, '203.0.113.1')).toBe(401);
      if (guess < 5) continue;
      const refused = await send('signIn', { actor: from('203.0.113.1'), body: { email, password } });
      const seconds = JSON.parse(refused.body.toString()).retryAfter as number;
      waits.push(seconds);
      clockMs += seconds * 1000 - 1;
      expect(await signIn(email, password, '203.0.113.1')).toBe(429);
      clockMs += 1;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
    // A success starts a count for its device alone.
    const right = await send('signIn', { actor: from('203.0.113.1'), body: { email, password } });
    const device = right.headers?.[deviceHeader] ?? '';
    const again = async (given: string) =>
      (await send('signIn', { actor: { ...from('203.0.113.1'), device }, body: { email, password: given } }))
        .status;
    expect([right.status, await again(wrong), await again(password)]).toEqual([200, 401, 200]);
    expect(await signIn(email, password, '203.0.113.1')).toBe(429);
  });

  const guessFrom = async (email: string, address: string): Promise<void> => {
    for (let guess = 1; guess <= 12; guess++) {
      expect(await signIn(email, wrong, address)).toBe(401);
      clockMs += 130_000;
    }
    clockMs -= 130_000;
  };

  test('delay only the network they come from', async () => {
    const { email } = await newOwner();
    await guessFrom(email, '203.0.113.1');
    expect(await signIn(email, password, '203.0.113.1')).toBe(429);
    expect(await signIn(email, password, '198.51.100.1')).toBe(200);
  });

  test('delay no device that the member has signed in with, in the same network', async () => {
    const { email } = await newOwner();
    const attempt = (given: string, device?: string) =>
      send('signIn', {
        actor: { ...from('203.0.113.1'), ...(device && { device }) },
        body: { email, password: given },
      });
    const device = (await attempt(password)).headers?.[deviceHeader];
    expect(device).toMatch(/^[\w-]{41,60}$/);
    await guessFrom(email, '203.0.113.1');
    expect((await attempt(password)).status).toBe(429);
    expect((await attempt(password, device)).status).toBe(200);
    // But a device cannot guess without limit either, and the device of another member is a stranger.
    const statuses: number[] = [];
    for (let guess = 1; guess <= 6; guess++) statuses.push((await attempt(wrong, device)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const other = await newOwner();
    const asOther = await send('signIn', {
      actor: { ...from('198.51.100.9'), ...(device && { device }) },
      body: { email: other.email, password },
    });
    expect(asOther.status).toBe(200);
    expect((await attempt(password, asOther.headers?.[deviceHeader]?.split('.')[0])).status).toBe(429);
  });

  test('delay no member who is signed in and changes the password', async () => {
    const member = await newMember();
    await guessFrom(member.email, member.actor.address);
    const body = { currentPassword: password, newPassword: 'eight badgers paint fences' };
    expect((await send('changePassword', { ...member, body })).status).toBe(204);
    // But a person at the open session cannot guess there either.
    const statuses: number[] = [];
    for (let guess = 1; guess <= 6; guess++)
      statuses.push((await send('changePassword', { ...member, body })).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  });

  test('are bounded per day over all networks', async () => {
    const { email } = await newOwner();
    // The start of a day, so that the day does not end during the guesses.
    clockMs = Math.ceil(clockMs / 86_400_000) * 86_400_000;
    await world.database.query(
      'INSERT INTO sign_in_delays (subject, failures, last_attempt_utc, next_attempt_utc) VALUES (UNHEX(SHA2(?, 256)), 499, ?, ?)',
      [
        `account\n${email}\n${new Date(clockMs).toISOString().slice(0, 10)}`,
        new Date(clockMs),
        new Date(clockMs),
      ],
    );
    let admitted = 0;
    const beganMs = clockMs;
    for (let network = 0; clockMs < beganMs + 3 * 3_600_000; network++) {
      if ((await signIn(email, wrong, `198.18.${network >> 8}.${network & 255}`)) === 401) admitted++;
      clockMs += 60_000;
    }
    // Ten while the delays grow, then four per hour.
    expect(admitted).toBeLessThanOrEqual(10 + 3 * 4);
    expect(admitted).toBeGreaterThanOrEqual(3 * 4);
    // The next day has its own count.
    clockMs = beganMs + 86_400_000;
    expect(await signIn(email, password, '198.51.100.1')).toBe(200);
  });
});
