import { isIP } from 'node:net';
import type { PortalHead } from './head.ts';

/** Where a request comes from, and under which address its sender knows this service. */
export interface Client {
  readonly address: string;
  /** Whether the browser came by https; cookies and headers depend on it. */
  readonly https: boolean;
  /** Host and port as the browser has them. */
  readonly host: string;
}

/**
 * What proxies say is believed as far as there are proxies: of `X-Forwarded-For` the entry that the outermost
 * trusted one wrote, which is the last but `trustedProxies - 1`.
 * @param remote the address of the connection.
 */
export const clientOf = (head: PortalHead, remote: string, trustedProxies: number): Client => {
  const connected = normalAddress(remote);
  if (trustedProxies === 0) return { address: connected, https: false, host: head.host };
  const hops = head.forwardedFor.split(',').map((entry) => entry.trim());
  const named = normalAddress(hops.at(-trustedProxies) ?? '');
  return {
    address: isIP(named) ? named : connected,
    https: head.forwardedProto.split(',')[0]?.trim() === 'https',
    host: head.forwardedHost.split(',')[0]?.trim() || head.host,
  };
};

/** An IPv4 address in IPv6's clothes is shown as itself; IPv6 in its short form. */
const normalAddress = (text: string): string => {
  const bare = text.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  if (isIP(bare) !== 6) return bare.replace(/^([\d.]+):\d+$/, '$1');
  const short = URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare;
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short) ?? [];
  if (!high || !low) return short;
  const number = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
};
