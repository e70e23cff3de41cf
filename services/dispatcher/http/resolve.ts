import { type LookupAddress, lookup, Resolver } from 'node:dns';
import { codeOf, Failure, ofLookup } from './failure.ts';

/** @throws Failure of class `dns` */
export type Resolve = (host: string) => Promise<readonly string[]>;

interface ResolveOptions {
  /** `address:port`; by default the system's. */
  readonly servers?: readonly string[] | undefined;
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
  const blame = createBlame({ servers, timeoutMs });
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
        blame(host, code).then(reject);
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
export const createSystemResolver = ({ servers, timeoutMs }: ResolveOptions): Resolve => {
  const blame = createBlame({ servers, timeoutMs });
  return (host) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => blame(host, 'ETIMEOUT').then(reject), timeoutMs);
      const take = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => {
        clearTimeout(timer);
        if (error) blame(host, codeOf(error)).then(reject);
        else resolve(addresses.map(({ address }) => address));
      };
      lookup(host, { all: true, order: 'ipv4first' }, take);
    });
};

/** Tells a name whose own servers fail from name servers of this machine that are away, which is no fault of the receiver. */
const createBlame = ({
  servers,
  timeoutMs,
}: ResolveOptions): ((host: string, code: string) => Promise<Failure>) => {
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 2), tries: 1 });
  if (servers) resolver.setServers(servers);
  let asking: Promise<boolean> | undefined;
  // Every name server knows those of the root, or says that it does not.
  const areAway = (): Promise<boolean> => {
    asking ??= new Promise<boolean>((resolve) => {
      resolver.resolveNs('.', (error) => resolve(error !== null && unanswered.has(codeOf(error))));
    }).finally(() => setTimeout(() => (asking = undefined), askAgainMs).unref());
    return asking;
  };
  return async (host, code) => {
    const isOurs = hereOnly.has(code) || (unanswered.has(code) && (await areAway()));
    if (isOurs)
      return new Failure('dns', 'Causeway could not resolve the host, for a reason on its side.', code);
    return code === 'ETIMEOUT' ? tooSlow(host) : ofLookup(host, { code });
  };
};

const askAgainMs = 5000;
const unanswered: ReadonlySet<string> = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EAI_AGAIN']);
const hereOnly: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EFILE',
  'EAI_MEMORY',
  'EAI_SYSTEM',
]);

const tooSlow = (host: string): Failure =>
  new Failure('dns', `The name servers of ${host} did not answer in time.`);
