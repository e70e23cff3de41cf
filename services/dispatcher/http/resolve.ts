import { type LookupAddress, lookup, Resolver } from 'node:dns';
import { codeOf, Failure, ofLookup } from './failure.ts';

/** @throws Failure of class `dns` */
export type Resolve = (host: string) => Promise<readonly string[]>;

interface ResolveOptions {
  /** `address:port`; by default the system's. */
  readonly servers?: readonly string[];
  readonly timeoutMs: number;
}

/** How long A records wait for a name server that does not answer for AAAA. */
const secondFamilyMs = 1000;

/**
 * The C library's resolver would block one of four threads for as long as a name server is slow. The name is
 * queried as absolute, so that this machine's search list does not apply.
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
        // "No such record" says less than the error of the other family.
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

/** As this machine does, hosts file included, for deliveries inside its own network. */
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
