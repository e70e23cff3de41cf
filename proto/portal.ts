/** They need a session; API keys are not accepted. */
export const portalBasePath = '/portal/api/v1';

export const portalBodyBytes = 16 * 1024;
/** For passwords or codes, and for requests without a session. */
export const credentialBodyBytes = 4 * 1024;

/** Each role has the rights of the roles before it. A viewer sees personal data masked. */
export const roles = ['viewer', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof roles)[number];

export const roleAllows = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/** Who makes a call of the portal, as the gateway determined. The call's tenant is the member's company. */
export interface Actor {
  readonly user: ActorUser | null;
  /** The client's address, an IPv4 or IPv6 text. */
  readonly address: string;
  readonly userAgent: string;
  /** The session's token, only in calls to `access`, which ignores `user`. */
  readonly token?: string;
  /** Only in calls to `access`: the call does not extend the session. */
  readonly passive?: boolean;
  /** Signed by `access` (`SessionClaims`), in calls to the other services. They trust nothing else. */
  readonly proof?: string;
  /** In calls to `access`. It grants no access. */
  readonly device?: string;
}

export interface ActorUser {
  readonly id: number;
  readonly sessionId: number;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
}
