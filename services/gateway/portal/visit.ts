import { passiveHeader, problem } from '@causeway/proto';
import type { HttpRequest } from '../http/uws.ts';

export interface Visit {
  readonly head: PortalHead;
  readonly client: Client;
}

/** The request object is valid only until its handler returns. */
export const readVisit = (request: HttpRequest, address: string, trustedProxies: number): Visit => {
  const head = readPortalHead(request);
  return { head, client: clientOf(head, address, trustedProxies) };
};

const maxUserAgentCharacters = 300;

export const readCachingHead = (request: HttpRequest) => ({
  acceptEncoding: request.getHeader('accept-encoding'),
  ifNoneMatch: request.getHeader('if-none-match'),
});

const readPortalHead = (request: HttpRequest) => ({
  host: request.getHeader('host'),
  cookie: request.getHeader('cookie'),
  origin: request.getHeader('origin'),
  fetchSite: request.getHeader('sec-fetch-site'),
  contentType: request.getHeader('content-type'),
  userAgent: request.getHeader('user-agent').slice(0, maxUserAgentCharacters),
  ...readCachingHead(request),
  forwardedProto: request.getHeader('x-forwarded-proto'),
  forwardedHost: request.getHeader('x-forwarded-host'),
  /** The page sent it without a user action (`passiveHeader`). */
  passive: request.getHeader(passiveHeader) !== '',
});

export type PortalHead = ReturnType<typeof readPortalHead>;

export interface Client {
  readonly address: string;
  readonly https: boolean;
  readonly host: string;
}

/** Trusts proxies for scheme and host as well (`clientAddress`). */
export const clientOf = (head: PortalHead, address: string, trustedProxies: number): Client =>
  trustedProxies === 0
    ? { address, https: false, host: head.host }
    : {
        address,
        https: head.forwardedProto.split(',')[0]?.trim() === 'https',
        host: head.forwardedHost.split(',')[0]?.trim() || head.host,
      };

/**
 * Allows a change only from the portal's own pages: checks Fetch Metadata, or `Origin` for browsers too old
 * to send it. Covers signing in too: otherwise another site could sign a visitor in to an attacker's account.
 * @throws Problem `cross_site`
 */
export const requireSameSite = ({ fetchSite, origin }: PortalHead, client: Client): void => {
  if (fetchSite !== '') {
    if (fetchSite === 'same-origin') return;
  } else {
    const from = /^https?:\/\//.test(origin) ? URL.parse(origin) : null;
    // Behind a proxy that does not forward the scheme it is unknown, so only the host is compared.
    if (from && (from.protocol === 'https:' || !client.https) && from.host === hostOf(client, from.protocol))
      return;
  }
  throw problem('cross_site');
};

const hostOf = ({ host }: Client, protocol: string): string => URL.parse(`${protocol}//${host}`)?.host ?? '';
