import { isIP } from 'node:net';
import type { Head } from './head.ts';
import type { HttpResponse } from './uws.ts';

/** The address of the request's client. Call it while the response is open. */
export const addressOf = (
  response: HttpResponse,
  { forwardedFor }: Pick<Head, 'forwardedFor'>,
  trustedProxies: number,
): string =>
  clientAddress(
    Buffer.from(response.getRemoteAddressAsText()).toString('latin1'),
    forwardedFor,
    trustedProxies,
  );

/**
 * The client's address: in `X-Forwarded-For`, the entry that the outermost trusted proxy wrote, which is number
 * `trustedProxies` from the end. Entries before it may come from the client. If that entry is missing or not an
 * address, the address of the connection.
 * @param remote the address of the connection.
 */
export const clientAddress = (remote: string, forwardedFor: string, trustedProxies: number): string => {
  const connected = normalAddress(remote);
  if (trustedProxies === 0) return connected;
  const hops = forwardedFor.split(',').map((entry) => entry.trim());
  const named = normalAddress(hops.at(-trustedProxies) ?? '');
  return isIP(named) ? named : connected;
};

/** Normalises an address: IPv4-mapped IPv6 as IPv4, other IPv6 in its short form. */
const normalAddress = (text: string): string => {
  const bare = text.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  if (isIP(bare) !== 6) return bare.replace(/^([\d.]+):\d+$/, '$1');
  const short = URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare;
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short) ?? [];
  if (!high || !low) return short;
  const number = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
};
