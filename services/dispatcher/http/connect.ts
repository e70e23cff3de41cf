import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { createSecureContext, connect as openTls, type SecureContext } from 'node:tls';
import { addressProblem, hostProblem, portOf, unresolvedHost } from '@causeway/proto';
import { Failure, ofConnect, ofLookup, ofTls } from './failure.ts';
import type { Resolve } from './resolve.ts';

export interface ConnectContext {
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  /** Certificate authorities in place of the usual ones. */
  readonly ca?: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** How a connection came about, as far as it got; durations in ms. */
export interface Opening {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  address: string | null;
  doing: 'dns' | 'connect' | 'tls';
  /** Of the attempt under way, so that it can be ended. */
  socket: Socket | null;
}

/**
 * Resolves the host, checks every address, and connects to one of those checked: there is no second look-up
 * that could answer otherwise. One address that is not to be reached makes the whole answer refused, as
 * nobody mixes them with honest intent. An open connection needs no further check: the address it is with
 * does not change, and nor do the rules.
 * @param opening is told how it gets on, also if it never comes to an end.
 * @param closed asked between the steps; once true, nothing further is begun.
 * @throws Failure
 */
export type Connect = (url: URL, opening: Opening, closed: () => boolean) => Promise<Socket>;

/** Several addresses are tried in turn, each this long before the next gets its chance (RFC 8305, section 5). */
const attemptMs = 1000;

export const createConnect = (context: ConnectContext): Connect => {
  const { allowPrivate, now } = context;
  const resolve = together(context.resolve);
  // One for all connections: each of its own would read the authorities anew.
  let secureContext: SecureContext | undefined;

  return async (url, opening, closed) => {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const problem = allowPrivate ? undefined : hostProblem(url.hostname);
    if (problem) throw new Failure('blocked_address', `The host is ${problem}, which is not delivered to.`);
    const addresses = isIP(host) ? [host] : await timed(opening, now, () => resolve(host));
    if (addresses.length === 0) throw ofLookup(host, { code: 'ENODATA' });
    assertAllowed(context, host, addresses);
    if (closed()) throw new Failure('timeout', 'No answer came in time.');

    opening.doing = 'connect';
    const startMs = now();
    const target = {
      host,
      port: portOf(url),
      lookup: answering(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptMs,
      noDelay: true,
    };
    const connected = (socket: Socket) => {
      opening.connectMs = now() - startMs;
      opening.address = socket.remoteAddress ?? null;
    };
    if (url.protocol === 'http:')
      return established(openTcp(target), 'connect', connected, { ...context, host }, opening);

    secureContext ??= createSecureContext(context.ca ? { ca: context.ca } : {});
    const socket = openTls({
      ...target,
      secureContext,
      servername: isIP(host) ? '' : host,
      ALPNProtocols: ['http/1.1'],
      // Said here, so that no variable of the environment says otherwise.
      rejectUnauthorized: true,
    });
    socket.once('connect', () => {
      connected(socket);
      opening.doing = 'tls';
    });
    const secured = () => {
      opening.tlsMs = now() - startMs - (opening.connectMs ?? 0);
    };
    return established(socket, 'secureConnect', secured, { ...context, host }, opening);
  };
};

/**
 * @throws Failure in the words of a name that does not exist: a tenant does not learn that there is one inside.
 */
const assertAllowed = (
  { allowPrivate }: ConnectContext,
  host: string,
  addresses: readonly string[],
): void => {
  if (!allowPrivate && addresses.some((address) => addressProblem(address) !== undefined))
    throw new Failure('dns', unresolvedHost(host));
};

/** The socket once `event` says it is ready. @throws Failure */
const established = (
  socket: Socket,
  event: 'connect' | 'secureConnect',
  done: (socket: Socket) => void,
  context: ConnectContext & { readonly host: string },
  opening: Opening,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    opening.socket = socket;
    // For its whole life: an error of TLS after the handshake does not end a socket by itself, and one between
    // two owners would otherwise find nobody.
    socket.on('error', () => socket.destroy());
    const failed = (error: Error) => reject(opening.doing === 'tls' ? ofTls(error) : ofConnect(error));
    // Whoever ends it at the deadline gives no error.
    const closed = () => failed(new Error('closed'));
    socket.once('error', failed).once('close', closed);
    socket.once(event, () => {
      socket.off('error', failed).off('close', closed);
      try {
        done(socket);
        // What the look-up answered was checked; this is where the connection really leads.
        assertAllowed(context, context.host, [socket.remoteAddress ?? '']);
        resolve(socket);
      } catch (error) {
        socket.destroy();
        reject(error);
      }
    });
  });

/** Gives the sockets of `node:net` the addresses that were checked in place of a look-up of their own. */
const answering = (addresses: readonly string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
};

/** Many connections to one host are often opened at once: they share a look-up while it is under way. */
const together = (resolve: Resolve): Resolve => {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const known = underWay.get(host);
    if (known) return known;
    const answer = resolve(host).finally(() => underWay.delete(host));
    underWay.set(host, answer);
    return answer;
  };
};

const timed = async (
  opening: Opening,
  now: () => number,
  look: () => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const startMs = now();
  try {
    return await look();
  } finally {
    opening.dnsMs = now() - startMs;
  }
};
