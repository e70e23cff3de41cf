import { hash } from 'node:crypto';
import type { Scope } from './operation.ts';

/**
 * The entries of the KV bucket `keyBucket`. `access` writes them from its database. Every gateway follows them all
 * and authenticates by them alone; `crm` and `webhooks` follow them to check what gateways claim. An entry carries the version of its row: of two, the newer counts.
 */
export interface KeyEntry {
  readonly version: number;
  readonly id: number;
  readonly companyId: number;
  readonly scopes: readonly Scope[];
  /** False forever once revoked. The entry stays for a week, so that a late reader sees it too. */
  readonly active: boolean;
  /** Of this key alone; a bucket that is absent has the company's limit, else the configured one. */
  readonly limits?: LimitOverrides;
}

export interface CompanyEntry {
  readonly version: number;
  readonly limits?: LimitOverrides;
}

/** Written once all other entries are: a gateway does not trust a table without it. */
export interface MetaEntry {
  readonly ready: true;
}

/** Requests per minute. `lookup` gives lookups a bucket of their own, also where they have none by default. */
export interface LimitOverrides {
  readonly read?: number;
  readonly write?: number;
  readonly admin?: number;
  readonly lookup?: number;
}

/**
 * The name of a key's entry: the hash of its hash. A gateway proves to a service that a key was sent to it with the
 * key's hash (`CallKey`), and every gateway can read the table: so the table must not contain that hash.
 * @param keyHash of the whole key, as `hashKeyValue` returns it.
 */
export const keyEntryName = (keyHash: string): string =>
  keyEntryPrefix + hash('sha256', keyHash, 'base64url');
export const keyEntryPrefix = 'key.';
export const companyEntryName = (companyId: number): string => `company.${companyId}`;
export const metaEntryName = 'meta';

/**
 * Sent to every gateway on `keyRevokedSubject` after an entry was written. A gateway answers with
 * `GatewayAnswer` as soon as its own copy holds that version of the entry, or a newer one.
 */
export interface KeyTableChange {
  /** Name of the entry in the bucket. */
  readonly name: string;
  readonly version: number;
}

export interface GatewayAnswer {
  /** The gateway's instance, the name of its entry in `gatewayBucket`. */
  readonly instance: string;
}

/**
 * The bucket in which gateways are listed, as either side makes it where it is missing: in memory, since it
 * is worth nothing after seconds; an entry lives five seconds after its renewal; single reads go to the
 * stream's leader.
 */
export const gatewayBucketSettings = {
  history: 1,
  ttl: 5000,
  storage: 'memory',
  allow_direct: false,
} as const;

/** One key's last use, as reported on `keyUsedSubject`: minutes since the Unix epoch. */
export type KeyUse = readonly [keyId: number, companyId: number, minute: number];
