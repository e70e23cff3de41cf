import { type LookupAddress, lookup, Resolver } from 'node:dns';
import { codeOf, Failure, ofLookup } from './failure.ts';

/** All addresses of a host name. @throws Failure of class `dns`. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolveOptions {
  /** Asked in place of the system's, as `address:port`. */
  readonly servers?: readonly string[];
  readonly timeoutMs: number;
}

/** A name server that never answers for AAAA makes the A records wait, but no longer than this. */
const secondFamilyMs = 1000;

/**
 * Asks the name servers for A and AAAA. It does not go through the C library, as that occupies one of four
 * threads for as long as a name server likes, and four slow names would stop all the others. The name is asked
 * for as absolute, so that no search list of this machine's network is tried with it.
 */
export const createResolver = ({ servers, timeoutMs }: ResolveOptions): Resolve => {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
  if (servers) resolver.setServers(servers);
  return (host) =>
    new Promise((resolve, reject) => {
      const name = host.endsWith('.') ? host : `${host}.`;
      const found: string[][] = [[], []];
      const codes: string[] = [];
      let open = 2;
      const finish = () => {
        clearTimeout(timer);
        const addresses = found.flat();
        if (addresses.length > 0) return resolve(addresses);
        // That there is no such record says less than what else went wrong, in the other family.
        const code = codes.find((one) => one !== 'ENODATA') ?? codes[0] ?? 'ETIMEOUT';
        reject(code === 'ETIMEOUT' ? tooSlow(host) : ofLookup(host, { code }));
      };
      let timer = setTimeout(finish, timeoutMs);
      const take = (at: number) => (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => {
        open -= 1;
        if (error) codes.push(codeOf(error));
        else found[at]?.push(...addresses);
        if (open === 0) return finish();
        if (error) return;
        clearTimeout(timer);
        timer = setTimeout(finish, Math.min(secondFamilyMs, timeoutMs));
      };
      resolver.resolve4(name, take(0));
      resolver.resolve6(name, take(1));
    });
};

/**
 * As this machine itself resolves names, its hosts file included: for installations that deliver inside their
 * own network.
 */
export const createSystemResolver =
  ({ timeoutMs }: ResolveOptions): Resolve =>
  (host) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(tooSlow(host)), timeoutMs);
      const take = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => {
        clearTimeout(timer);
        if (error) reject(ofLookup(host, error));
        else resolve(addresses.map(({ address }) => address));
      };
      lookup(host, { all: true, order: 'ipv4first' }, take);
    });

const tooSlow = (host: string): Failure =>
  new Failure('dns', `The name servers of ${host} did not answer in time.`);
