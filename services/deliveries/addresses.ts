import { BlockList, isIP } from 'node:net';

/**
 * Why an address is blocked, or undefined if deliveries may go there. Allowed are unicast addresses of the
 * public internet (IANA's special-purpose registries, plus the metadata addresses of clouds); of IPv6, those
 * in 2000::/3, the only assigned block. IPv6 addresses that embed an IPv4 address are blocked even if that
 * address is public, because a translator on the way decides where the packet ends.
 * @returns words that fit after "resolves to". They never contain the address, which callers must not learn.
 */
export const addressProblem = (address: string): string | undefined => {
  const family = isIP(address);
  // A zone ("%eth0") is meaningful on this machine only.
  if (family === 0 || address.includes('%')) return 'something that is not an address';
  if (family === 4) return blocked(forbidden4, address, 'ipv4');
  const groups = groupsOf(address);
  const [a, b, c, d, e, f, g, h] = groups as Groups;
  // The socket treats IPv4-mapped addresses as IPv4.
  if ((a | b | c | d | e) === 0 && f === 0xffff) return addressProblem(dotted(g, h));
  // ISATAP (RFC 5214) works under any prefix; only its interface identifier gives it away.
  if ((e === 0 || e === 0x200) && f === 0x5efe) return carriesIpv4;
  const problem = blocked(forbidden6, address, 'ipv6');
  if (problem !== undefined) return problem;
  return a >> 13 === 1 ? undefined : 'a reserved address';
};

/**
 * Why a URL's host is blocked, or undefined if it may be resolved. The host is parsed as WHATWG says, so that
 * `2130706433`, `0x7f.1` and `127.0.0.1.` are loopback. A name that passes may still resolve to a blocked
 * address.
 * @returns words that fit after "The host is".
 */
export const hostProblem = (host: string): string | undefined => {
  const name = canonical(isIP(host) === 6 ? `[${host}]` : host);
  if (name === undefined) return 'not a host name';
  if (name.startsWith('[')) return addressProblem(name.slice(1, -1));
  if (isIP(name) === 4) return addressProblem(name);
  const labels = name.split('.');
  if (name.length > 253 || labels.some((label) => !/^[\w-]{1,63}$/.test(label))) return 'not a host name';
  if (labels.at(-1) === 'localhost') return 'a loopback name';
  // The machine's DNS search list decides what a name such as "intranet" or "kubernetes" resolves to.
  if (labels.length === 1) return 'a name without a domain, which only a local network knows';
  return localSuffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
    ? 'a name of a local network'
    : undefined;
};

const carriesIpv4 = 'an IPv6 address that carries an IPv4 address';

const ranges4: readonly (readonly [problem: string, ...prefixes: string[]])[] = [
  // 168.63.129.16 is a public address, on which Azure serves its own machines.
  ['a metadata address', '169.254.169.254/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ['an unspecified address', '0.0.0.0/8'],
  ['a private address', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ['a shared address (carrier-grade NAT)', '100.64.0.0/10'],
  ['a loopback address', '127.0.0.0/8'],
  ['a link-local address', '169.254.0.0/16'],
  ['a documentation address', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ['a benchmarking address', '198.18.0.0/15'],
  ['a 6to4 relay', '192.88.99.0/24'],
  ['a multicast address', '224.0.0.0/4'],
  ['a broadcast address', '255.255.255.255/32'],
  ['a reserved address', '192.0.0.0/24', '240.0.0.0/4'],
];

const ranges6: typeof ranges4 = [
  ['a metadata address', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ['an unspecified address', '::/128'],
  ['a loopback address', '::1/128'],
  // Compatible and mapped, SIIT, NAT64 (well known, the rest of its /32, local), 6to4, Teredo.
  [carriesIpv4, '::/96', '::ffff:0:0:0/96', '64:ff9b::/32', '2002::/16', '2001::/32'],
  ['a discard address', '100::/64', '100:0:0:1::/64'],
  ['a documentation address', '2001:db8::/32', '3fff::/20'],
  ['a benchmarking address', '2001:2::/48'],
  // Protocol anycast, ORCHID and AS112: no receiver has such an address.
  ['a reserved address', '2001::/23'],
  ['a segment routing address', '5f00::/16'],
  ['a private address', 'fc00::/7', 'fec0::/10'],
  ['a link-local address', 'fe80::/10'],
  ['a multicast address', 'ff00::/8'],
];

const localSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home']
  // RFC 8375, RFC 7686, and the default domain of many routers.
  .concat('lan', 'home.arpa', 'onion');

type Family = 'ipv4' | 'ipv6';
type Groups = readonly [number, number, number, number, number, number, number, number];

const listsOf = (ranges: typeof ranges4, family: Family): readonly (readonly [string, BlockList])[] =>
  ranges.map(([problem, ...prefixes]) => {
    const list = new BlockList();
    for (const prefix of prefixes) {
      const [address = '', bits] = prefix.split('/');
      list.addSubnet(address, Number(bits), family);
    }
    return [problem, list];
  });

const forbidden4 = listsOf(ranges4, 'ipv4');
const forbidden6 = listsOf(ranges6, 'ipv6');

const blocked = (lists: typeof forbidden4, address: string, family: Family): string | undefined =>
  lists.find(([, list]) => list.check(address, family))?.[0];

const groupsOf = (address: string): readonly number[] => {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const gap = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...gap, ...right].map((group) => Number.parseInt(group, 16));
};

const dotted = (high: number, low: number): string =>
  [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');

/** Undefined if no URL can have the host. */
const canonical = (host: string): string | undefined => {
  // These characters end the host inside a URL, so what follows them would go unchecked.
  if (/[\s/\\?#@]/.test(host) || /:/.test(host.replace(/^\[[^[\]]*\]$/, ''))) return undefined;
  const bare = host.replace(/(?:[.\u3002\uff0e\uff61]|%2e)+$/i, '');
  try {
    return new URL(`http://${bare}/`).hostname.replace(/\.+$/, '') || undefined;
  } catch {
    return undefined;
  }
};

export type DeliveryPorts = ReadonlySet<number> | 'any';

/** Other ports may belong to services that mistake a request for a command. */
const httpsPorts = [443, 8443];

export const deliveryPorts = (
  configured: DeliveryPorts | undefined,
  { allowHttp, allowPrivate }: { readonly allowHttp: boolean; readonly allowPrivate: boolean },
): DeliveryPorts => configured ?? (allowHttp || allowPrivate ? 'any' : new Set(httpsPorts));

export const portOf = ({ port, protocol }: URL): number => {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
};

/** @returns words that fit after "The port is"; undefined if deliveries may go there. */
export const portProblem = (url: URL, ports: DeliveryPorts): string | undefined => {
  const port = portOf(url);
  if (port !== 0 && (ports === 'any' || ports.has(port))) return undefined;
  if (ports === 'any') return `${port}; a port is from 1 to 65535`;
  const allowed = [...ports].sort((a, b) => a - b).join(', ');
  return `${port}; deliveries go to these ports only: ${allowed}; an operator allows others with WEBHOOKS_PORTS`;
};
