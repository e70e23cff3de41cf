import { problem } from '@causeway/proto';
import type { Client } from './client.ts';
import type { PortalHead } from './head.ts';

/**
 * Allows a call that changes something only from the portal's own pages. Checks Fetch Metadata, or `Origin` for browsers
 * too old to send it. Covers signing in too: otherwise another site could sign a visitor in to an attacker's account.
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

/** The host, without the scheme's default port. */
const hostOf = ({ host }: Client, protocol: string): string => URL.parse(`${protocol}//${host}`)?.host ?? '';
