import { describe, expect, test } from 'vitest';
import { deviceCookie, readDevice, readToken, tokenCookie } from './answers.ts';
import { clientOf, type PortalHead } from './visit.ts';

const head = (more: Partial<PortalHead> = {}): PortalHead => ({
  host: 'crm.example',
  cookie: '',
  origin: '',
  fetchSite: '',
  contentType: '',
  userAgent: '',
  acceptEncoding: '',
  ifNoneMatch: '',
  forwardedProto: '',
  forwardedHost: '',
  passive: false,
  ...more,
});

describe('the client', () => {
  test('has the host of its request without proxies, whatever a header says', () => {
    const given = head({ forwardedProto: 'https', forwardedHost: 'evil.example' });
    expect(clientOf(given, '203.0.113.7', 0)).toEqual({
      address: '203.0.113.7',
      https: false,
      host: 'crm.example',
    });
  });

  test('behind proxies has their scheme and host', () => {
    const given = head({ host: '10.0.0.1:8080', forwardedProto: 'https', forwardedHost: 'crm.example' });
    expect(clientOf(given, '10.0.0.9', 1)).toMatchObject({ https: true, host: 'crm.example' });
  });
});

describe('the cookie', () => {
  const token = 'a'.repeat(43);
  const local = { address: '127.0.0.1', https: false, host: 'localhost:8080' };
  const remote = { address: '203.0.113.7', https: true, host: 'crm.example' };

  test('is bound to host and https, except on localhost, where browsers refuse such cookies', () => {
    expect(tokenCookie(token, remote)).toBe(
      `__Host-causeway=${token}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    expect(tokenCookie(token, local)).toBe(`causeway=${token}; Path=/; HttpOnly; SameSite=Strict`);
    expect(tokenCookie(token, { ...remote, https: false })).toContain('; Secure');
    expect(tokenCookie(token, { ...local, https: true })).toContain('__Host-');
    expect(tokenCookie('', remote)).toContain('; Max-Age=0');
  });

  test('is read by its own name only: a plain one is ignored if it must be a bound one', () => {
    expect(readToken(`x=1; __Host-causeway=${token}`, remote)).toBe(token);
    expect(readToken(`causeway=${token}`, remote)).toBe('');
    expect(readToken(`causeway=${token}`, { ...remote, host: 'localhost.evil.example' })).toBe('');
    expect(readToken(`causeway=${token}`, local)).toBe(token);
    expect(readToken(`causeway=${token}; causeway=${token}`, local)).toBe('');
    expect(readToken('causeway=short', local)).toBe('');
  });

  test('of known devices outlives the session, and is not a session', () => {
    expect(deviceCookie('a.b', remote)).toBe(
      '__Host-causeway-device=a.b; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=34560000',
    );
    const both = `causeway=${token}; causeway-device=a.b`;
    expect([readToken(both, local), readDevice(both, local)]).toEqual([token, 'a.b']);
    expect(readDevice('causeway-device=a.b; causeway-device=c.d', local)).toBe('');
    expect(readDevice(`causeway-device=${'x'.repeat(301)}`, local)).toBe('');
  });
});
