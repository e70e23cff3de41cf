import { isIP } from 'node:net';
import { keyOperations, memberOperations, Problem } from '@causeway/proto';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress } from './http/head.ts';
import { deviceCookie, readDevice, readToken, tokenCookie } from './portal/answers.ts';
import { clientOf, type PortalHead, requireSameSite } from './portal/visit.ts';
import { createRouter } from './routes.ts';

const anyText = fc.string({ unit: unicode, maxLength: 40 });
const headOf = (more: Partial<PortalHead>): PortalHead => ({
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

describe.each([
  ['the interface', keyOperations, '/api/v1'],
  ['the portal', memberOperations, '/portal/api/v1'],
] as const)('a path of %s', (_, table, base) => {
  const route = createRouter(table as readonly { method: string; path: string; id: string }[], base);
  const operation = fc.constantFrom(...table.map(({ id, method, path }) => ({ id, method, path })));
  const segment = fc.string({ unit: fc.constantFrom(...'abc019{}%.-_~\u00e9'), minLength: 1, maxLength: 8 });
  const filled = fc.tuple(operation, fc.array(segment, { minLength: 4, maxLength: 4 }));
  const fixed = new Set(table.map(({ path }) => base + path));

  test('leads to its operation, with the text in place of its ids', () => {
    fc.assert(
      fc.property(filled, ([operation, segments]) => {
        const params: string[] = [];
        const path = operation.path.replace(/\{\w+\}/g, () => {
          const next = segments[params.length]!;
          params.push(next);
          return next;
        });
        // `/events/test` is a path of its own, not the event `test`.
        fc.pre(params.length === 0 || !fixed.has(base + path));
        const { match } = route(operation.method, base + path);
        expect([match?.operation.id, match?.params]).toEqual([operation.id, params]);
        if (operation.method === 'GET')
          expect(route('HEAD', base + path).match?.operation.id).toBe(operation.id);
      }),
      { numRuns: 500 },
    );
  });

  test('has no part of more than 255 bytes, whatever its characters', () => {
    const withId = fc.constantFrom(...table.filter(({ path }) => path.includes('{')));
    fc.assert(
      fc.property(
        withId,
        fc.constantFrom('7', '%20', 'ÿ', '人'),
        fc.boolean(),
        ({ method, path, id }, unit, fits) => {
          const most = Math.floor(255 / Buffer.byteLength(unit));
          const part = unit.repeat(fits ? most : most + 1);
          const { match } = route(method, base + path.replace(/\{\w+\}/g, part));
          expect(match?.operation.id).toBe(fits ? id : undefined);
        },
      ),
      { numRuns: 200 },
    );
  });
});

const address = fc.oneof(fc.ipV4(), fc.ipV6());

describe('the address of a client', () => {
  test('is that of the connection if no proxy is trusted, whatever headers say', () => {
    fc.assert(
      fc.property(address, anyText, (from, forwardedFor) => {
        expect(clientAddress(from, forwardedFor, 0)).toBe(clientAddress(from, '', 0));
      }),
      { numRuns: 200 },
    );
  });

  test('is what the outermost trusted proxy wrote, whatever the client put before it', () => {
    const hops = fc
      .integer({ min: 1, max: 4 })
      .chain((count) =>
        fc.tuple(fc.constant(count), fc.array(address, { minLength: count, maxLength: count })),
      );
    fc.assert(
      fc.property(address, anyText, hops, (from, forged, [count, written]) => {
        const alone = clientAddress(from, written[0]!, 1);
        expect(clientAddress(from, [forged, ...written].join(', '), count)).toBe(alone);
        expect(isIP(alone)).not.toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('is an address for any text in the header', () => {
    const near = fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.[], %'), maxLength: 40 });
    const proxies = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(address, fc.oneof(anyText, near), proxies, (from, forwardedFor, trusted) => {
        expect(isIP(clientAddress(from, forwardedFor, trusted))).not.toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the cookie of a session', () => {
  const client = fc.record({
    address: fc.constant('192.0.2.1'),
    https: fc.boolean(),
    host: fc.constantFrom('localhost:8080', 'crm.example', '127.0.0.1'),
  });
  const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019_-'), minLength: 43, maxLength: 43 });
  const pair = (value: string, secure: boolean) => `${secure ? '__Host-' : ''}causeway=${value}`;

  test('yields the token, among any other cookies', () => {
    const other = fc.tuple(
      fc.constantFrom('a', 'causeway2', 'xcauseway', 'Causeway'),
      fc.string({ unit: fc.constantFrom(...'ab=_% "'), maxLength: 9 }),
    );
    fc.assert(
      fc.property(
        client,
        token,
        fc.array(other, { maxLength: 4 }),
        fc.nat(4),
        (who, value, others, place) => {
          const [own = ''] = tokenCookie(value, who).split(';');
          const all = others.map(([name, text]) => `${name}=${text}`).toSpliced(place, 0, own);
          expect(readToken(all.join('; '), who)).toBe(value);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('is ignored if it was planted beside another, or is malformed', () => {
    fc.assert(
      fc.property(client, token, anyText, (who, value, text) => {
        const [own = ''] = tokenCookie(value, who).split(';');
        expect(readToken(`${own}; ${own.split('=')[0]}=${text.replaceAll(';', '')}`, who)).toBe('');
        const read = readToken(text, who);
        expect(read === '' || /^[\w-]{43}$/.test(read)).toBe(true);
        // Only on this machine is the plain name accepted.
        const isPlain = !own.startsWith('__Host-');
        expect(readToken(pair(value, isPlain), who)).toBe('');
      }),
      { numRuns: 300 },
    );
  });
});

test('a change is accepted only from the portal’s own pages', () => {
  const hosts = fc.constantFrom(
    'crm.example',
    'crm.example:8443',
    'localhost:8080',
    'evil.example',
    'crm.example.evil.example',
  );
  const origin = fc.oneof(
    anyText,
    fc.constantFrom('null', ''),
    fc
      .tuple(fc.constantFrom('http', 'https', 'ftp', 'file'), hosts)
      .map(([scheme, host]) => `${scheme}://${host}`),
  );
  const site = fc.constantFrom('', '', 'same-origin', 'same-site', 'cross-site', 'none', 'SAME-ORIGIN');
  fc.assert(
    fc.property(site, origin, hosts, fc.boolean(), (fetchSite, from, host, https) => {
      const lets = (() => {
        try {
          requireSameSite(headOf({ fetchSite, origin: from }), { address: '192.0.2.1', https, host });
          return true;
        } catch (error) {
          expect(error instanceof Problem && error.code).toBe('cross_site');
          return false;
        }
      })();
      const own = [`https://${host}`, ...(https ? [] : [`http://${host}`])];
      expect(lets).toBe(fetchSite === '' ? own.includes(from) : fetchSite === 'same-origin');
    }),
    { numRuns: 1000 },
  );
});

describe('the client', () => {
  test('has the host of its request without proxies, whatever a header says', () => {
    const given = headOf({ forwardedProto: 'https', forwardedHost: 'evil.example' });
    expect(clientOf(given, '203.0.113.7', 0)).toEqual({
      address: '203.0.113.7',
      https: false,
      host: 'crm.example',
    });
  });

  test('behind proxies has their scheme and host', () => {
    const given = headOf({ host: '10.0.0.1:8080', forwardedProto: 'https', forwardedHost: 'crm.example' });
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
    expect(tokenCookie(token, { ...remote, https: false })).toMatch(/^__Host-.*; Secure/);
    expect(readToken(`causeway=${token}`, { ...remote, https: false, host: 'localhost.evil.example' })).toBe(
      '',
    );
    expect(tokenCookie(token, { ...local, https: true })).toContain('__Host-');
    expect(tokenCookie('', remote)).toContain('; Max-Age=0');
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
