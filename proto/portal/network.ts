import { isIP } from 'node:net';

/**
 * What limits count an anonymous client under: an IPv4 address, or the /64 of an IPv6 address, as every
 * household has one.
 * @param address with IPv4-mapped addresses as plain IPv4.
 */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  if (tail !== undefined) {
    const rest = tail.split(':').filter(Boolean);
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return groups.slice(0, 4).join(':');
};

/** As stored: `203.0.113.0/24`. Undefined if it is neither an address nor a network. */
export const canonicalNetwork = (text: string): string | undefined => {
  const [address = '', bits, ...more] = text.trim().toLowerCase().split('/');
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  if (family === 0 || more.length > 0 || /[%]|^(0*:)*:*ffff:/.test(address)) return undefined;
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)) return undefined;
  return `${address}/${Number(bits ?? most)}`;
};

/** An IPv4 address, or the /48 of an IPv6 address, the most that one customer of a provider gets. */
export const siteOf = (address: string): string =>
  address.includes(':') ? networkOf(address).split(':').slice(0, 3).join(':') : address;
