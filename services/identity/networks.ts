import { BlockList } from 'node:net';

/** @param networks the array of a key's entry, for which the parsed form is kept. @param address without a mapped IPv4 address. */
export const isAllowedFrom = (networks: readonly string[], address: string): boolean => {
  let list = lists.get(networks);
  if (!list) {
    list = new BlockList();
    for (const network of networks) {
      const [start = '', bits] = network.split('/');
      list.addSubnet(start, Number(bits), familyOf(start));
    }
    lists.set(networks, list);
  }
  return list.check(address, familyOf(address));
};

const lists = new WeakMap<readonly string[], BlockList>();
const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');
