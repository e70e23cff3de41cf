import { hash } from 'node:crypto';
import type { Scope } from './operation.ts';
import type { ActorUser } from './portal.ts';

/** Gateways authenticate with these alone; `crm` and `webhooks` check with them what gateways claim. */
export interface KeyEntry {
  readonly version: number;
  readonly id: number;
  readonly companyId: number;
  readonly scopes: readonly Scope[];
  /** False forever once revoked. The entry stays for a week, so that late readers see it too. */
  readonly active: boolean;
  /** From then on the key is refused, as a revoked one. Absent: never. */
  readonly expiresMs?: number;
  /**
   * In the entry of the secret before the latest rotation: until then it admits as the key of that entry, which says all else. Such
   * an entry is not `active`, so that a reader of an older release refuses the secret. Ended: 0.
   */
  readonly replacedBy?: { readonly name: string; readonly untilMs: number };
  /** In CIDR notation; from elsewhere, requests are refused. Absent: from anywhere. */
  readonly networks?: readonly string[];
  /** Never stored: the request came with the earlier secret. */
  readonly isPrevious?: boolean;
  /** A bucket that is absent has the limit of the company, or else the configured one. */
  readonly limits?: LimitOverrides;
}

/** Whether a request with the key is admitted now. */
export const isUsable = (key: KeyEntry | undefined, nowMs: number): key is KeyEntry =>
  key?.active === true && (key.expiresMs === undefined || nowMs < key.expiresMs);

/** An entry of a key, or of its earlier secret, that admits nobody any more. */
export const isRefusal = (entry: Partial<KeyEntry> | CompanyEntry | SignerEntry): boolean =>
  'active' in entry && !entry.active && !entry.replacedBy?.untilMs;

export interface CompanyEntry {
  readonly version: number;
  readonly closed?: true;
  readonly limits?: LimitOverrides;
  /** In place of `limits`, for the buckets that they name. */
  readonly temporary?: TemporaryLimits;
}

/** For an import (contract, "Rate limits"). */
export interface TemporaryLimits {
  readonly untilMs: number;
  readonly limits: LimitOverrides;
}

/** The company as it is at a moment: with its temporary limits among the others, or without them. */
export const companyAt = (company: CompanyEntry, nowMs: number): CompanyEntry => {
  const { temporary, ...rest } = company;
  if (!temporary) return company;
  return nowMs < temporary.untilMs
    ? { ...company, limits: { ...company.limits, ...temporary.limits } }
    : rest;
};

/** Written after all other entries: a gateway does not trust a table without it. */
export interface MetaEntry {
  readonly ready: true;
}

interface LimitOverrides {
  readonly read?: number;
  readonly write?: number;
  readonly admin?: number;
  readonly lookup?: number;
}

/**
 * The hash of the key's hash: a key's hash proves that a gateway received the key (`CallKey`), and every
 * gateway can read the table. @param keyHash of the whole key, as `hashKeyValue` returns it.
 */
export const keyEntryName = (keyHash: string): string =>
  keyEntryPrefix + hash('sha256', keyHash, 'base64url');
export const keyEntryPrefix = 'key.';
export const companyEntryName = (companyId: number): string => `company.${companyId}`;
export const metaEntryName = 'meta';

/** Sent to every gateway after an entry was written. A gateway answers once its copy holds that version. */
export interface KeyTableChange {
  readonly name: string;
  readonly version: number;
  readonly entry: TableEntry;
}

export type TableEntry = (KeyEntry | CompanyEntry | SignerEntry) & { readonly version: number };

/** Compared by digests of groups (`services/identity/key-table-digest.ts`), whatever the copy has missed. */
export interface KeyChangesRequest {
  readonly from: number;
  readonly digests: string;
}

/**
 * What the database held after the request: every admitting entry of the groups that differ, so a missing one
 * is invalid, and every entry that began to refuse a key a moment ago. Null if it cannot be read.
 */
export interface KeyChanges {
  readonly groups: readonly number[];
  readonly entries: readonly (readonly [name: string, entry: TableEntry])[];
  readonly next: number | null;
}

export interface GatewayAnswer {
  readonly instance: string;
}

/**
 * Both sides create the bucket. An entry expires five seconds after its last renewal; reads go to the leader.
 */
export const gatewayBucketSettings = {
  history: 1,
  ttl: 5000,
  storage: 'memory',
  allow_direct: false,
} as const;

/** The API key of a call. Services do not trust gateways: each looks it up as `keyEntryName(proof)`. */
export interface CallKey {
  readonly proof: string;
  readonly address: string;
}

/** What `access` signs for a session that a gateway asked about. */
export interface SessionClaims {
  readonly companyId: number;
  readonly user: ActorUser;
  /** Unix milliseconds by the database's clock. */
  readonly untilMs: number;
}

export interface SignerEntry {
  readonly version: number;
  /** Ed25519, SPKI in DER as base64. Null once `access` no longer signs with it. */
  readonly publicKey: string | null;
}

export const signerEntryPrefix = 'signer.';
export const signerEntryName = (id: string): string => signerEntryPrefix + id;
