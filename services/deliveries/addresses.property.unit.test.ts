import { isIP } from 'node:net';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressProblem, hostProblem } from './addresses.ts';

/** Written out again, so that the test does not depend on the guard's own table. */
const reserved4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
const toNumber = (dotted: string): number =>
  dotted.split('.').reduce((number, part) => number * 256 + Number(part), 0);
const toDotted = (number: number): string =>
  [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
const isReserved = (number: number): boolean =>
  reserved4.some(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(number / size) === Math.floor(toNumber(first) / size);
  });

const anywhere = fc.nat(2 ** 32 - 1);
const edge = fc
  .tuple(fc.constantFrom(...reserved4), fc.boolean(), fc.integer({ min: -2, max: 2 }))
  .map(([[first, bits], end, by]) => toNumber(first) + (end ? 2 ** (32 - bits) : 0) + by)
  .filter((number) => number >= 0 && number < 2 ** 32);
const number4 = fc.oneof(anywhere, edge);

const spell = (part: number, way: number): string =>
  way === 0 ? String(part) : way === 1 ? `0${part.toString(8)}` : `0x${part.toString(16)}`;
const spellings = fc
  .tuple(number4, fc.nat(3), fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }), fc.constantFrom('', '.'))
  .map(([number, cut, ways, end]) => {
    // The last part holds all remaining bytes: 127.1, 2130706433.
    const head = Array.from({ length: cut }, (_, at) => Math.floor(number / 2 ** (24 - 8 * at)) % 256);
    const rest = number % 2 ** (32 - 8 * cut);
    const parts = [...head, rest].map((part, at) => spell(part, ways[at]!));
    return { number, text: parts.join('.') + end };
  });

describe('an IPv4 address', () => {
  test('is allowed exactly if it is in no special block', () => {
    fc.assert(
      fc.property(number4, (number) => {
        expect(addressProblem(toDotted(number)) !== undefined).toBe(isReserved(number));
      }),
      { numRuns: 2000 },
    );
  });

  test('is judged the same in every spelling of a URL', () => {
    fc.assert(
      fc.property(spellings, ({ number, text }) => {
        expect(hostProblem(text)).toBe(addressProblem(toDotted(number)));
      }),
      { numRuns: 1000 },
    );
  });

  test('is judged the same when mapped into IPv6, and blocked when embedded otherwise', () => {
    const carriers = fc.constantFrom('64:ff9b::', '::', '2002:', '::ffff:0:', '2606:4700::5efe:');
    fc.assert(
      fc.property(number4, carriers, (number, carrier) => {
        const dotted = toDotted(number);
        expect(addressProblem(`::ffff:${dotted}`)).toBe(addressProblem(dotted));
        const [high, low] = [Math.floor(number / 65_536), number % 65_536].map((half) => half.toString(16));
        const carried = carrier === '2002:' ? `2002:${high}:${low}::1` : `${carrier}${high}:${low}`;
        expect(addressProblem(carried)).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });
});

const groups = fc.array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0, 0, 0xffff, 0x2001, 0xfe80, 0xfc00)), {
  minLength: 8,
  maxLength: 8,
});

describe('an IPv6 address', () => {
  test('is judged the same in its long and short form, in capitals and in brackets', () => {
    fc.assert(
      fc.property(groups, (parts) => {
        const long = parts.map((part) => part.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]/`).hostname;
        const verdict = addressProblem(long);
        expect(addressProblem(short.slice(1, -1))).toBe(verdict);
        expect(addressProblem(long.toUpperCase())).toBe(verdict);
        expect([hostProblem(short), hostProblem(long)]).toEqual([verdict, verdict]);
      }),
      { numRuns: 1000 },
    );
  });

  test('is allowed only in 2000::/3, or as an allowed IPv4 address', () => {
    fc.assert(
      fc.property(groups, (parts) => {
        const address = parts.map((part) => part.toString(16)).join(':');
        if (addressProblem(address) !== undefined) return;
        const isMapped = parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;
        if (isMapped) expect(isReserved(parts[6]! * 65_536 + parts[7]!)).toBe(false);
        else expect(parts[0]! >> 13).toBe(1);
      }),
      { numRuns: 2000 },
    );
  });
});

test('a host that URLs read as an address is judged as that address, and the guard never throws', () => {
  const near = fc.string({
    unit: fc.constantFrom(...'0123456789abcdefx.:[]%。．@/\\ ', '１', 'ℓ', '\u00ad'),
    maxLength: 24,
  });
  const host = fc.oneof(
    near,
    fc.string({ unit: unicode, maxLength: 30 }),
    fc.domain(),
    fc.ipV4Extended(),
    fc.ipV6(),
  );
  fc.assert(
    fc.property(host, (text) => {
      addressProblem(text);
      const verdict = hostProblem(text);
      const url = URL.parse(`https://${text}/hook`);
      if (verdict !== undefined || url === null) return;
      // The host passed, so the address that a connection would use must be allowed.
      expect([url.username, url.password, url.port]).toEqual(['', '', '']);
      const name = url.hostname.replace(/^\[|\]$/g, '');
      if (isIP(name) !== 0) expect(addressProblem(name)).toBeUndefined();
      else expect(name).toContain('.');
    }),
    { numRuns: 1000 },
  );
});
