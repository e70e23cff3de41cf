import { randomBytes } from 'node:crypto';
import { parseKeyRing } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { createDevices, knownDeviceOf } from './subjects.ts';
import { createTokenSigner } from './token.ts';

const ring = (...names: string[]) => names.map((name) => `${name}:${randomBytes(32).toString('base64')}`);
let at = new Date('2026-01-15T09:30:00Z');
const devicesWith = (keys: readonly string[]) =>
  createDevices({
    signer: createTokenSigner(parseKeyRing(keys.join()), 'devices'),
    now: () => at,
    random: randomBytes,
  });
const [old, next] = [ring('old'), ring('next')];
const devices = devicesWith(old);

const ada = { companyId: 1001, userId: 1, epoch: 0 };
const knownIn = (cookie: string | undefined, email: string, { recognise } = devices): number[] =>
  recognise(cookie, email).map(({ userId }) => userId);

test('a device is known only for the memberships that signed in with it, in any case', () => {
  const cookie = devices.remember(undefined, 'ada@example.com', [ada]);
  expect(devices.recognise(cookie, 'ADA@example.com')).toMatchObject([ada]);
  expect(knownIn(cookie, 'grace@example.com')).toEqual([]);
  expect(knownIn(undefined, 'ada@example.com')).toEqual([]);
  const both = devices.remember(cookie, 'ada@example.com', [{ companyId: 1002, userId: 2, epoch: 0 }]);
  expect(knownIn(both, 'ada@example.com')).toEqual([2, 1]);
});

test('a device is unknown once the epoch of its member has changed, until they sign in again', () => {
  const cookie = devices.remember(undefined, 'ada@example.com', [ada]);
  const row = (device_epoch: number) => ({ company_id: 1001, id: 1, device_epoch });
  const isKnown = (text: string, epoch: number) =>
    knownDeviceOf(devices.recognise(text, 'ada@example.com'), row(epoch)) !== undefined;
  expect([isKnown(cookie, 0), isKnown(cookie, 1)]).toEqual([true, false]);
  const renewed = devices.remember(cookie, 'ada@example.com', [{ ...ada, epoch: 1 }]);
  expect([isKnown(renewed, 0), isKnown(renewed, 1)]).toEqual([false, true]);
});

test('a changed or forged cookie is not a known device', () => {
  const cookie = devices.remember(undefined, 'ada@example.com', [ada]);
  for (let place = 0; place < cookie.length; place++) {
    const changed = cookie.slice(0, place) + (cookie[place] === 'a' ? 'b' : 'a') + cookie.slice(place + 1);
    expect(knownIn(changed, 'ada@example.com'), changed).toEqual([]);
  }
  for (const made of ['', '.', 'x'.repeat(38), `${'x'.repeat(38)}1-1-0`, `${cookie}x`, cookie.slice(1)])
    expect(knownIn(made, 'ada@example.com')).toEqual([]);
});

test('five people who share a browser are remembered, each with one id over all sign-ins', () => {
  const people = Array.from({ length: 6 }, (_, which) => ({
    email: `p${which}@example.com`,
    of: { companyId: 2 ** 31, userId: 2 ** 31 + which, epoch: 9 },
  }));
  let cookie: string | undefined;
  for (const { email, of } of people) cookie = devices.remember(cookie, email, [of]);
  expect(people.map(({ email }) => knownIn(cookie, email).length)).toEqual([0, 1, 1, 1, 1, 1]);
  const { email, of } = people[3]!;
  const [before] = devices.recognise(cookie, email);
  cookie = devices.remember(cookie, email, [of]);
  expect(devices.recognise(cookie, email)[0]?.deviceId).toBe(before?.deviceId);
  expect(cookie.split('.')).toHaveLength(5);
  // What the gateway takes.
  expect(cookie.length).toBeLessThanOrEqual(300);
});

test('a device is forgotten after 400 days, and when its key leaves the ring', () => {
  const cookie = devices.remember(undefined, 'ada@example.com', [ada]);
  expect(knownIn(cookie, 'ada@example.com', devicesWith([...next, ...old]))).toEqual([1]);
  expect(knownIn(cookie, 'ada@example.com', devicesWith(next))).toEqual([]);
  const signedIn = at;
  at = new Date(signedIn.getTime() + 400 * 86_400_000);
  expect(knownIn(cookie, 'ada@example.com')).toEqual([1]);
  at = new Date(signedIn.getTime() + 401 * 86_400_000);
  expect(knownIn(cookie, 'ada@example.com')).toEqual([]);
  at = signedIn;
});

test('a device is found for a membership without its address, and for no other', () => {
  const cookie = devices.remember(undefined, 'ada@example.com', [ada]);
  expect(devices.recogniseMember(cookie, ada)).toMatchObject(ada);
  expect(devices.recogniseMember(cookie, { ...ada, userId: 2 })).toBeUndefined();
  const made = `${cookie.slice(0, -1)}1`;
  expect(devices.recogniseMember(made, { ...ada })).toBeUndefined();
  // Who has a membership of their own does not become a known device of another address.
  expect(knownIn(cookie, 'grace@example.com')).toEqual([]);
});
