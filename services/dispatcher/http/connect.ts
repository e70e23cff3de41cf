import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { createSecureContext, connect as openTls, type SecureContext } from 'node:tls';
import { addressProblem, hostProblem, portOf } from '@causeway/deliveries';
import { unresolvedHost } from '@causeway/proto';
import { Failure, ofConnect, ofLookup, ofTls } from './failure.ts';
import type { Resolve } from './resolve.ts';

interface ConnectContext {
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly ca?: string;
  readonly now: () => number;
}

export interface Opening {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  address: string | null;
  doing: 'dns' | 'connect' | 'tls';
  socket: Socket | null;
}

/**
 * Checks every address, and connects to a checked address without a second lookup that could answer
 * differently. One blocked address refuses the whole answer: a name that mixes both may change at any time.
 * @param closed once true, no further step begins.
 * @throws Failure
 */
export type Connect = (url: URL, opening: Opening, closed: () => boolean) => Promise<Socket>;

/** After this time the next address is tried (RFC 8305, section 5). */
const attemptMs = 1000;

export const createConnect = (context: ConnectContext): Connect => {
  const { allowPrivate, now } = context;
  const resolve = sharedLookUps(context.resolve);
  // Shared by all connections; otherwise each connection would parse the authorities again.
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
      // Without the dot of an absolute name (RFC 6066, section 3).
      servername: isIP(host) ? '' : host.replace(/\.$/, ''),
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, so that no environment variable can turn it off.
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

/** @throws Failure for private addresses alone as for an unknown name: which internal names exist is not told. */
const assertAllowed = (
  { allowPrivate }: ConnectContext,
  host: string,
  addresses: readonly string[],
): void => {
  if (allowPrivate) return;
  const blocked = addresses.filter((address) => addressProblem(address) !== undefined);
  if (blocked.length === 0) return;
  if (blocked.length === addresses.length) throw new Failure('dns', unresolvedHost(host));
  throw new Failure('dns', `One of the addresses of the host ${host} is not public; none of them is tried.`);
};

const established = (
  socket: Socket,
  event: 'connect' | 'secureConnect',
  done: (socket: Socket) => void,
  context: ConnectContext & { readonly host: string },
  opening: Opening,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    opening.socket = socket;
    // Stays for the whole life of the socket: a TLS error after the handshake does not close it.
    socket.on('error', () => socket.destroy());
    const failed = (error: Error) => reject(opening.doing === 'tls' ? ofTls(error) : ofConnect(error));
    // Destroying the socket at the deadline passes no error.
    const closed = () => failed(new Error('closed'));
    socket.once('error', failed).once('close', closed);
    socket.once(event, () => {
      socket.off('error', failed).off('close', closed);
      try {
        done(socket);
        // The lookup's answer was checked; this checks the address the socket is actually connected to.
        assertAllowed(context, context.host, [socket.remoteAddress ?? '']);
        resolve(socket);
      } catch (error) {
        socket.destroy();
        reject(error);
      }
    });
  });

/** `node:net` would otherwise do its own lookup. */
const answering = (addresses: readonly string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
};

/** Connections that open at the same time share one lookup. */
const sharedLookUps = (resolve: Resolve): Resolve => {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const connecting = underWay.get(host);
    if (connecting) return connecting;
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
