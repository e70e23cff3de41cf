import { passiveHeader } from '@causeway/proto';
import type { HttpRequest } from '../http/uws.ts';

/** The headers of the portal's requests, in addition to the `Head` of every request. */
export interface PortalHead {
  readonly host: string;
  readonly cookie: string;
  readonly origin: string;
  readonly fetchSite: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
  readonly forwardedProto: string;
  readonly forwardedHost: string;
  /** Whether the page sent it without a user action (`passiveHeader`). */
  readonly passive: boolean;
}

const maxUserAgentCharacters = 300;

/** The request object is valid only until its handler returns. */
export const readPortalHead = (request: HttpRequest): PortalHead => ({
  host: request.getHeader('host'),
  cookie: request.getHeader('cookie'),
  origin: request.getHeader('origin'),
  fetchSite: request.getHeader('sec-fetch-site'),
  contentType: request.getHeader('content-type'),
  userAgent: request.getHeader('user-agent').slice(0, maxUserAgentCharacters),
  acceptEncoding: request.getHeader('accept-encoding'),
  ifNoneMatch: request.getHeader('if-none-match'),
  forwardedProto: request.getHeader('x-forwarded-proto'),
  forwardedHost: request.getHeader('x-forwarded-host'),
  passive: request.getHeader(passiveHeader) !== '',
});
