import type { HttpRequest } from '../http/uws.ts';
import { type Client, clientOf } from './client.ts';
import { type PortalHead, readPortalHead } from './head.ts';

/** The parts of a portal request that other requests do not have. */
export interface Visit {
  readonly head: PortalHead;
  readonly client: Client;
}

export const readVisit = (request: HttpRequest, address: string, trustedProxies: number): Visit => {
  const head = readPortalHead(request);
  return { head, client: clientOf(head, address, trustedProxies) };
};
