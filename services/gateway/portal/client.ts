import type { PortalHead } from './head.ts';

/** The client's address, and the scheme and host by which it reached this service. */
export interface Client {
  readonly address: string;
  /** Whether the browser used https; cookies and headers depend on it. */
  readonly https: boolean;
  /** Host and port, as the browser sees them. */
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
