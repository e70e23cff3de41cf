/** Where the portal's operations are served, for browsers with a session; API keys mean nothing there. */
export const portalBasePath = '/portal/api/v1';

/** Bytes that a body of the portal's operations may have, unless they say otherwise. */
export const portalBodyBytes = 16 * 1024;
/** Bytes that a body with passwords or codes may have, and one of somebody without a session. */
export const credentialBodyBytes = 4 * 1024;

/** Each may do what those before it may. A viewer sees personal data masked. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Whether a member with `role` may do what asks for `least`. */
export const roleAllows = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/**
 * Who makes a call of the portal, and from where, as the gateway has found out. It travels with the call; the
 * call's tenant is the member's company and its caller the member's id.
 */
export interface Actor {
  /** Null while nobody is signed in. */
  readonly user: ActorUser | null;
  /** The client's address, an IPv4 or IPv6 text. */
  readonly address: string;
  /** At most 300 characters. */
  readonly userAgent: string;
  /** The session's token, in calls to `access` alone: there it decides who this is, whatever `user` says. */
  readonly token?: string;
  /** In calls to `access` alone: the call does not extend the session. */
  readonly passive?: boolean;
  /** What `access` has signed of the session (`SessionClaims`), in calls to the other services: they go by that alone. */
  readonly proof?: string;
  /** The cookie of known devices, in calls to `access` without a session: it opens nothing. */
  readonly device?: string;
}

export interface ActorUser {
  readonly id: number;
  readonly sessionId: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}
