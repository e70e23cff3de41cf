import type { Bucket } from '../operation.ts';
import type { ActorUser } from '../portal.ts';

/** Sent by the gateway itself, and not in the table of operations. */
export const resolveSessionOperation = 'resolveSession';

export interface ResolveSession {
  readonly token: string;
  readonly passive: boolean;
}

/** Marks a GET as a background request of a page, such as a refresh: it does not extend the session. */
export const passiveHeader = 'x-passive';

/** An unknown token gets 401. */
export interface ResolvedSession {
  readonly companyId: number;
  readonly user: ActorUser;
  readonly proof: string;
  /** The company requires a second factor that the member has not set up: then `proof` is empty. */
  readonly factorMissing?: boolean;
}

/** From `access`; the gateway sets the cookie (empty: removes it). The header never leaves the gateway. */
export const sessionTokenHeader = 'Session-Token';

/** As `sessionTokenHeader`, for the cookie that marks the browser as a known device of the member. */
export const deviceHeader = 'Device';

/**
 * A request with a key; or `requests` of one kind, without request ID and address. `ids` are those of the path, with commas
 * between them; `operation` is empty if no route matched. `bucket` is that of the limit that counted it, empty if no limit
 * counts such requests, and null if it was refused before.
 */
export type LoggedRequest = readonly [
  companyId: number,
  keyId: number,
  utcMs: number,
  serial: number,
  operation: string,
  method: string,
  ids: string,
  status: number,
  durationMs: number,
  requestId: string,
  address: string,
  isPrevious: 0 | 1,
  bucket: Bucket | '' | null,
  requests: number,
];
/** In one message. */
export const maxLoggedRequests = 2000;
