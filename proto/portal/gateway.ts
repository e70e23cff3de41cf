import type { Bucket } from '../operation.ts';
import type { ActorUser } from '../portal.ts';

/** What the gateway asks `access` by itself, over its lane, beside the operations of the table. */
export const resolveSessionOperation = 'resolveSession';

export interface ResolveSession {
  /** As the cookie has it. */
  readonly token: string;
  /** A look that is no use of the session: its idle time goes on. */
  readonly passive: boolean;
}

/**
 * With this header, of any value, a GET is a page's own doing, as when it renews what it shows: no use of the
 * session, whose idle time goes on.
 */
export const passiveHeader = 'x-passive';

/** The answer with status 200; a token that is nobody's gets 401. */
export interface ResolvedSession {
  readonly companyId: number;
  readonly user: ActorUser;
  /** `SessionClaims`, signed: valid for a minute. */
  readonly proof: string;
}

/**
 * By this header of an answer over the lane `access` hands a new session's token to the gateway, which makes a
 * cookie of it; empty: the cookie is to be taken back. It never leaves the gateway.
 */
export const sessionTokenHeader = 'Session-Token';

/** Likewise the cookie by which the browser is known as a device of the member's from now on. */
export const deviceHeader = 'Device';

/** What a gateway counted for one key in one bucket in one minute (Unix time in minutes), since its last report. */
export type RequestCount = readonly [
  companyId: number,
  keyId: number,
  bucket: Bucket,
  minute: number,
  answered: number,
  limited: number,
  failed: number,
];
/** JSON, at most this many a message. */
export type RequestReport = readonly RequestCount[];
export const maxRequestCounts = 2000;
