import { isIP } from 'node:net';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressProblem, deliveryPorts, hostProblem, portOf, portProblem } from './addresses.ts';

const carried = 'an IPv6 address that carries an IPv4 address';

/** The addresses from tests of other webhook senders and egress proxies, and the edges of each block. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'a metadata address': [
    ...['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', '::ffff:169.254.169.254'],
    ...['fd00:ec2::254', 'fd00:ec2:0:0:0:0:0:254', 'FD00:EC2::254', 'fd20:ce::254', '::ffff:a9fe:a9fe'],
  ],
  'an unspecified address': ['0.0.0.0', '0.0.0.1', '0.1.2.3', '0.255.255.255', '::', '::0', '::ffff:0.0.0.1'],
  'a private address': [
    ...['10.0.0.0', '10.0.0.1', '10.0.0.5', '10.0.1.1', '10.1.2.3', '10.254.0.0', '10.255.255.255'],
    ...['172.16.0.0', '172.16.0.1', '172.16.1.1', '172.16.5.4', '172.16.10.65', '172.31.255.255'],
    ...['192.168.0.0', '192.168.0.1', '192.168.1.1', '192.168.1.10', '192.168.1.100', '192.168.10.65'],
    ...['192.168.255.255', '::ffff:10.0.0.1', '::ffff:c0a8:101', 'fc00::', 'fc00::1', 'fd00::1'],
    ...['fd12:3456::1', 'fd7a:115c:a1e0::1', 'fdee:3A45:9057::0001', 'fdff:ffff::1', 'fec0::1', 'feff::1'],
  ],
  'a shared address (carrier-grade NAT)': [
    ...['100.64.0.0', '100.64.0.1', '100.64.0.100', '100.100.0.0', '100.127.255.254', '100.127.255.255'],
  ],
  'a loopback address': [
    ...['127.0.0.0', '127.0.0.1', '127.0.0.254', '127.0.1.1', '127.254.254.254', '127.255.255.255', '::1'],
    ...['0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:127.0.0.1'],
  ],
  'a link-local address': [
    ...['169.254.0.0', '169.254.0.1', '169.254.1.1', '169.254.45.1', '169.254.170.2', '169.254.255.255'],
    ...['fe80::', 'fe80::1', 'fe80::dead:beef', 'febf:ffff::dead:beef'],
  ],
  'a documentation address': [
    ...['192.0.2.0', '192.0.2.255', '198.51.100.65', '203.0.113.6', '2001:db8::1', '2001:db8:ffff::1'],
    ...['3fff::', '3fff::1', '3fff::dead:beef', '3fff:fff::1', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ],
  'a benchmarking address': ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'a 6to4 relay': ['192.88.99.0', '192.88.99.1', '192.88.99.3', '192.88.99.255'],
  'a multicast address': [
    ...['224.0.0.0', '224.0.0.1', '224.1.2.3', '233.252.0.16', '239.255.255.250', '239.255.255.255'],
    ...['ff00::1', 'ff02::1', 'ff02:0:0:0:0:0:0:2', 'ff0e::1', 'ffff:ffff::1', '::ffff:224.0.0.1'],
  ],
  'a broadcast address': ['255.255.255.255', '::ffff:255.255.255.255'],
  'a reserved address': [
    ...['192.0.0.0', '192.0.0.8', '192.0.0.255', '240.0.0.0', '240.240.240.240', '250.10.20.30'],
    ...['255.255.255.254', '1::1', '0:0:0:1::1', 'ff:ffff::1', '64:ff9c::1', '100:0:0:2::1', '200::1'],
    // Not in ::ffff:0:0/96: that would need the group one place to the right.
    '0:0:0:ffff::1',
    ...['1fff:ffff::1', '4000::1', '8000::1', 'c000::1', 'e000::1', '2001:1::1', '2001:1::2', '2001:3::1'],
    ...['2001:4:112::1', '2001:10::1', '2001:20::1', '2001:2f::1', '2001:1ff::1'],
  ],
  [carried]: [
    ...['::7f00:1', '::a9fe:a9fe', '::8.8.8.8', '::2', '::127.0.0.1'],
    ...['::ffff:0:7f00:1', '::ffff:0:a9fe:a9fe', '::ffff:0:5db8:d822', '::ffff:0:127.0.0.1'],
    ...['::5efe:7f00:1', '::5efe:a9fe:a9fe', '2606:4700::5efe:7f00:1', '2606:4700::200:5efe:8.8.8.8'],
    'fe80::5efe:192.168.0.1',
    ...['64:ff9b::', '64:ff9b::a9fe:a9fe', '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b::ac1c:5'],
    ...['64:ff9b::c000:201', '64:ff9b::c0a8:0', '64:ff9b::c0a8:0000', '64:ff9b::c058:6301'],
    ...['64:ff9b::e000:1', '64:ff9b::ffff:ffff', '64:ff9b::808:808', '64:ff9b::101:101'],
    ...['64:ff9b::5db8:d822', '64:ff9b::8.8.8.8', '64:ff9b:0:1::1', '64:ff9b:1::1', '64:ff9b:1::dead:beef'],
    ...['2002::', '2002:a9fe:a9fe::1', '2002:7f00:1::1', '2002:a00:1::1', '2002:c000:201::1'],
    ...['2002:c000:0204::dead:beef', '2002:c0a8:0001::dead:beef', '2002:5db8:d822::1', '2002:808:808::1'],
    ...['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:0:1234:5678:9abc:def0:1234:5678'],
  ],
  'a discard address': ['100::1', '100::1:2:3:4', '100:0:0:1::1'],
  'a segment routing address': ['5f00::1', '5f00::dead:beef', '5f00:ffff::1'],
  'something that is not an address': [
    ...['', 'not-an-ip', 'example.com', '127.1', '0x7f000001', '2130706433', '[::1]', '127.0.0.1:80'],
    ...['::1%lo', 'fe80::1%eth0', '2606:4700::1%eth0', '1.2.3', '1.2.3.4.5', ' 1.1.1.1', '01.1.1.1', ':::'],
  ],
};

const allowed = [
  ...['1.1.1.1', '8.8.8.8', '8.8.9.8', '93.184.216.34', '9.255.255.255', '11.0.0.0', '1.0.0.0'],
  ...['100.63.255.254', '100.63.255.255', '100.128.0.0', '100.128.0.1', '126.255.255.255', '128.0.0.0'],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0'],
  ...['192.0.3.0', '192.88.98.255', '192.88.100.1', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ...['198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...['168.63.129.15', '168.63.129.17', '::ffff:8.8.8.8', '::ffff:5db8:d822', '2001:200::1'],
  ...['2001:4860:4860::8888', '2606:4700:4700::1111', '2001:db7::1', '2001:db9::1', '2003::1', '2000::1'],
  ...['3fff:1000::1', '3ffe::1', '2400:cb00:2048:1::c629:d7a2', '2606:4700:4700:0:0:0:1.1.1.1'],
];

describe('a blocked address', () => {
  const rows = Object.entries(refused).flatMap(([why, list]) =>
    list.map((address) => [address, why] as const),
  );
  test.each(rows)('%j is %s', (address, why) => expect(addressProblem(address)).toBe(why));
});

test.each(allowed)('%s may be delivered to', (address) => expect(addressProblem(address)).toBeUndefined());

describe('a blocked host', () => {
  const loopback = [
    ...['127.0.0.1', '127.1', '127.0.1', '0x7f.1', '0x7f000001', '0X7F.0.0.1', '017700000001', '0177.0.0.1'],
    ...[
      '2130706433',
      '127.0.0.1.',
      '127.0.0.1..',
      '127.1.',
      '0x7f.1.',
      '１２７.0.0.1',
      '127。0。0。1',
      '127．0．0．1',
    ],
    ...['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '①②⑦.0.0.1', '00000177.0.0.01', '[::1]', '::1', '[0:0::1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:7F00:0001]', '127.255.255.254', '127.0.0.1%2E'],
  ];
  test.each(loopback)('%s is loopback', (host) => expect(hostProblem(host)).toBe('a loopback address'));

  const others: readonly (readonly [string, string])[] = [
    ['0', 'an unspecified address'],
    ['0x0', 'an unspecified address'],
    ['[::]', 'an unspecified address'],
    ['10.1', 'a private address'],
    ['0xa000001', 'a private address'],
    ['192.168.257', 'a private address'],
    ['3232235777', 'a private address'],
    ['2852039166', 'a metadata address'],
    ['0xA9FEA9FE', 'a metadata address'],
    ['0251.0376.0251.0376', 'a metadata address'],
    ['169.254.43518', 'a metadata address'],
    ['[::ffff:169.254.169.254]', 'a metadata address'],
    ['[fd00:ec2::254]', 'a metadata address'],
    ['4294967295', 'a broadcast address'],
    ['[64:ff9b::808:808]', carried],
    ['[2002:7f00:1::1]', carried],
    ['[fe80::1]', 'a link-local address'],
  ];
  test.each(others)('%s is %s', (host, why) => expect(hostProblem(host)).toBe(why));

  const localNames = [
    ...['router.local', 'ROUTER.LOCAL', 'router.local.', 'db.internal', 'metadata.google.internal'],
    ...[
      'metadata.google.internal.',
      'a.b.svc.cluster.local',
      'x.localdomain',
      'nas.lan',
      'wiki.corp',
      'x.home',
    ],
    ...['printer.home.arpa', 'wiki.intranet', 'x.private', 'abc.onion', 'metadata.google。internal'],
  ];
  test.each(localNames)('%s is a name of a local network', (host) => {
    expect(hostProblem(host)).toBe('a name of a local network');
  });
  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost..',
    'a.localhost',
    'ｌocalhost',
    'lo%63alhost',
  ])('%s is a loopback name', (host) => expect(hostProblem(host)).toBe('a loopback name'));
  test.each(['intranet', 'kubernetes', 'metadata', 'com', 'kubernetes.'])('%s has no domain', (host) => {
    expect(hostProblem(host)).toBe('a name without a domain, which only a local network knows');
  });

  const notHosts = [
    ...[
      '',
      '.',
      '..',
      '[example.com]',
      '[[example.com]]',
      '[127.0.0.1]',
      '[::1',
      '::1]',
      '[::1]x',
      '[::1%lo]',
    ],
    ...[
      '[fe80::1%25eth0]',
      'a b.com',
      'example.com:80',
      'example.com/x',
      'user@example.com',
      'example.com?x',
    ],
    ...[
      'example.com#x',
      'example.com\\x',
      '256.1.1.1',
      '1.2.3.4.5',
      '0x100000000',
      '1.2.3.09',
      'a..example.com',
    ],
    ...['exa mple.com', 'exam%2fple.com', 'exam%00ple.com', 'example.com%40evil', `${'a'.repeat(64)}.com`],
    ...['example.com\n', '\texample.com', `${'a.'.repeat(130)}com`, '[]', '%', '.example.com'],
  ];
  test.each(notHosts)('%j is not a host name', (host) => expect(hostProblem(host)).toBe('not a host name'));
});

test.each([
  ...['example.com', 'EXAMPLE.com', 'example.com.', 'hooks.example.co.uk', 'xn--mnchen-3ya.de', 'münchen.de'],
  ...[
    'a_b.example.com',
    '8.8.8.8',
    '134744072',
    '0x08080808',
    '[2606:4700:4700::1111]',
    '1.1',
    'mylocal.dev',
  ],
  ...['localhost.example.com', 'internal.example.com', '127.0.0.1.example.com', '2606:4700:4700::1111'],
])('%s may be resolved', (host) => expect(hostProblem(host)).toBeUndefined());

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
        const [high, low] = [Math.floor(number / 65_536), number % 65_536].map((half) => half.toString(16));
        for (const mapped of [`::ffff:${dotted}`, `::ffff:${high}:${low}`])
          expect(addressProblem(mapped)).toBe(addressProblem(dotted));
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

const strict = { allowHttp: false, allowPrivate: false };

test('without configured ports deliveries go to those of HTTPS, and in development to any port', () => {
  expect(deliveryPorts(undefined, strict)).toEqual(new Set([443, 8443]));
  expect(deliveryPorts(undefined, { ...strict, allowHttp: true })).toBe('any');
  expect(deliveryPorts(undefined, { ...strict, allowPrivate: true })).toBe('any');
  expect(deliveryPorts(new Set([443]), { allowHttp: true, allowPrivate: true })).toEqual(new Set([443]));
});

test.each([
  ['https://a.example', 443],
  ['https://a.example:443/', 443],
  ['http://a.example/', 80],
  ['https://a.example:8443', 8443],
  ['https://a.example:0', 0],
])('%s has port %i', (url, port) => {
  expect(portOf(new URL(url))).toBe(port);
});

test('a port that is not allowed is refused with the allowed ones', () => {
  const ports = new Set([8443, 443]);
  expect(portProblem(new URL('https://a.example'), ports)).toBeUndefined();
  expect(portProblem(new URL('https://a.example:8443'), ports)).toBeUndefined();
  expect(portProblem(new URL('https://a.example:6379'), ports)).toBe(
    '6379; deliveries go to these ports only: 443, 8443; an operator allows others with WEBHOOKS_PORTS',
  );
  expect(portProblem(new URL('https://a.example:6379'), 'any')).toBeUndefined();
  expect(portProblem(new URL('https://a.example:0'), 'any')).toBe('0; a port is from 1 to 65535');
});
