import { problem } from '@causeway/proto';
import type { Client } from './client.ts';
import type { PortalHead } from './head.ts';

/**
 * Lets a call that changes something through only when it comes from the portal's own pages: by what the browser
 * says of the request (Fetch Metadata), and where an old one says nothing, by its origin. Signing in is
 * protected too, or a page could sign somebody in as somebody else.
 * @throws Problem `cross_site`
 */
export const requireSameSite = ({ fetchSite, origin }: PortalHead, client: Client): void => {
  if (fetchSite !== '') {
    if (fetchSite === 'same-origin') return;
  } else {
    const from = /^https?:\/\//.test(origin) ? URL.parse(origin) : null;
    // Behind a proxy that tells no scheme there is no knowing which it was; the host decides.
    if (from && (from.protocol === 'https:' || !client.https) && from.host === hostOf(client, from.protocol))
      return;
  }
  throw problem('cross_site');
};

/** The host without a port that the scheme implies, as a URL has it. */
const hostOf = ({ host }: Client, protocol: string): string => URL.parse(`${protocol}//${host}`)?.host ?? '';
