import type { PortalHead } from './head.ts';

/** Where a request comes from, and under which address its sender knows this service. */
export interface Client {
  readonly address: string;
  /** Whether the browser came by https; cookies and headers depend on it. */
  readonly https: boolean;
  /** Host and port as the browser has them. */
  readonly host: string;
}

/** Scheme and host are believed of proxies too (`clientAddress`). */
export const clientOf = (head: PortalHead, address: string, trustedProxies: number): Client =>
  trustedProxies === 0
    ? { address, https: false, host: head.host }
    : {
        address,
        https: head.forwardedProto.split(',')[0]?.trim() === 'https',
        host: head.forwardedHost.split(',')[0]?.trim() || head.host,
      };
