import { randomBytes } from 'node:crypto';
import { parseKeyRing } from '@causeway/proto';
import { expect, test } from 'vitest';
import { createDevices } from './devices.ts';
import { createTokenSigner } from './signer.ts';

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

test('a device is known only to the member who signed in with it, in any case', () => {
  const cookie = devices.remember(undefined, 'ada@example.com');
  expect(devices.recognise(cookie, 'ADA@example.com')).toMatch(/^[\w-]{12}$/);
  expect(devices.recognise(cookie, 'grace@example.com')).toBeUndefined();
  expect(devices.recognise(undefined, 'ada@example.com')).toBeUndefined();
});

test('a changed or forged cookie is not a known device', () => {
  const cookie = devices.remember(undefined, 'ada@example.com');
  for (let place = 0; place < cookie.length - 1; place++) {
    const changed = cookie.slice(0, place) + (cookie[place] === 'a' ? 'b' : 'a') + cookie.slice(place + 1);
    expect(devices.recognise(changed, 'ada@example.com'), changed).toBeUndefined();
  }
  for (const made of ['', '.', 'x'.repeat(38), `${cookie}x`, cookie.slice(1)])
    expect(devices.recognise(made, 'ada@example.com')).toBeUndefined();
});

test('five people who share a browser are remembered, each with one id over all sign-ins', () => {
  const emails = Array.from({ length: 6 }, (_, which) => `p${which}@example.com`);
  let cookie: string | undefined;
  for (const email of emails) cookie = devices.remember(cookie, email);
  expect(emails.map((email) => devices.recognise(cookie, email) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
  const id = devices.recognise(cookie, 'p3@example.com');
  cookie = devices.remember(cookie, 'p3@example.com');
  expect(devices.recognise(cookie, 'p3@example.com')).toBe(id);
  expect(cookie.split('.')).toHaveLength(5);
  expect(cookie.length).toBeLessThanOrEqual(200);
});

test('a device is forgotten after 400 days, and when its key leaves the ring', () => {
  const cookie = devices.remember(undefined, 'ada@example.com');
  expect(devicesWith([...next, ...old]).recognise(cookie, 'ada@example.com')).toBeDefined();
  expect(devicesWith(next).recognise(cookie, 'ada@example.com')).toBeUndefined();
  const signedIn = at;
  at = new Date(signedIn.getTime() + 400 * 86_400_000);
  expect(devices.recognise(cookie, 'ada@example.com')).toBeDefined();
  at = new Date(signedIn.getTime() + 401 * 86_400_000);
  expect(devices.recognise(cookie, 'ada@example.com')).toBeUndefined();
  at = signedIn;
});
