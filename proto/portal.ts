/** The base path of the portal's operations. They need a session; API keys are not accepted. */
export const portalBasePath = '/portal/api/v1';

/** Default maximum size of a request body of the portal. */
export const portalBodyBytes = 16 * 1024;
/** Maximum size of a body with passwords or codes, or of one sent without a session. */
export const credentialBodyBytes = 4 * 1024;

/** Each role has the rights of those before it. A viewer sees personal data masked. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

/** Whether `role` is `least` or higher. */
export const roleAllows = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/**
 * Who makes a call of the portal, and from where, as the gateway determined. It is sent with the call; the tenant of
 * the call is the member's company, and its caller the member's id.
 */
export interface Actor {
  /** Null if nobody is signed in. */
  readonly user: ActorUser | null;
  /** The client's address, an IPv4 or IPv6 text. */
  readonly address: string;
  /** At most 300 characters. */
  readonly userAgent: string;
  /** The session's token, only in calls to `access`, which identifies the member by it and ignores `user`. */
  readonly token?: string;
  /** Only in calls to `access`: the call does not extend the session. */
  readonly passive?: boolean;
  /**
   * The session claims signed by `access` (`SessionClaims`), in calls to the other services. They trust nothing else.
   */
  readonly proof?: string;
  /** The known-device cookie, in calls to `access`. It grants no access. */
  readonly device?: string;
}

export interface ActorUser {
  readonly id: number;
  readonly sessionId: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}
