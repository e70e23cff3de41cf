import { hash } from 'node:crypto';
import type { Scope } from './operation.ts';
import type { ActorUser } from './portal.ts';

/**
 * The entries of the KV bucket `keyBucket`, which `access` writes from its database. Every gateway follows all
 * entries and authenticates with them alone; `crm` and `webhooks` follow them to check what gateways claim. An entry
 * carries the version of its row; the newer of two versions wins.
 */
export interface KeyEntry {
  readonly version: number;
  readonly id: number;
  readonly companyId: number;
  readonly scopes: readonly Scope[];
  /** False forever once revoked. The entry stays for a week, so that late readers see it too. */
  readonly active: boolean;
  /** Limits of this key alone. A bucket that is absent has the limit of the company, or else the configured one. */
  readonly limits?: LimitOverrides;
}

export interface CompanyEntry {
  readonly version: number;
  readonly limits?: LimitOverrides;
}

/** Written after all other entries: a gateway does not trust a table without it. */
export interface MetaEntry {
  readonly ready: true;
}

/** Requests per minute. `lookup` gives lookups a bucket of their own, even if they have none by default. */
interface LimitOverrides {
  readonly read?: number;
  readonly write?: number;
  readonly admin?: number;
  readonly lookup?: number;
}

/**
 * The name of a key's entry: the hash of the key's hash. A gateway proves with the key's hash that it received the
 * key (`CallKey`). Every gateway can read the table, so the table must not contain that hash.
 * @param keyHash of the whole key, as `hashKeyValue` returns it.
 */
export const keyEntryName = (keyHash: string): string =>
  keyEntryPrefix + hash('sha256', keyHash, 'base64url');
export const keyEntryPrefix = 'key.';
export const companyEntryName = (companyId: number): string => `company.${companyId}`;
export const metaEntryName = 'meta';

/**
 * Sent to every gateway on `keyRevokedSubject` after an entry was written. A gateway answers with `GatewayAnswer` as
 * soon as its own copy holds that version of the entry or a newer one.
 */
export interface KeyTableChange {
  /** Name of the entry in the bucket. */
  readonly name: string;
  readonly version: number;
  /** Absent from the previous release: the entry comes from the bucket. */
  readonly entry?: TableEntry;
}

/** Any entry but `meta`. */
export type TableEntry = (KeyEntry | CompanyEntry | SignerEntry) & { readonly version: number };

/**
 * A request on `keyChangesSubject`. A copy of the table is compared by the digests of its groups
 * (`services/identity/key-table-digest.ts`), which is enough whatever the copy has missed and whichever replica answers.
 */
export interface KeyChangesRequest {
  /** The first group to compare. */
  readonly from: number;
  readonly digests: string;
}

/**
 * The answer: what the database held at some time after the request. Null if the database cannot be read. It has every
 * entry that admits someone of the groups that differ, so an entry of these groups that is missing here is invalid.
 * Entries that began to refuse a key a moment ago are there too, whatever their group.
 */
export interface KeyChanges {
  readonly groups: readonly number[];
  readonly entries: readonly (readonly [name: string, entry: TableEntry])[];
  /** The next group to ask for; null at the end. */
  readonly next: number | null;
}

export interface GatewayAnswer {
  /** The gateway's instance, the name of its entry in `gatewayBucket`. */
  readonly instance: string;
}

/**
 * Settings of the bucket that lists the gateways; both sides create it if it is missing. It is kept in memory because
 * its entries are worthless after seconds. An entry expires five seconds after its last renewal. Single reads go to
 * the stream's leader.
 */
export const gatewayBucketSettings = {
  history: 1,
  ttl: 5000,
  storage: 'memory',
  allow_direct: false,
} as const;

/** One key's last use, as reported on `keyUsedSubject`: minutes since the Unix epoch. */
export type KeyUse = readonly [keyId: number, companyId: number, minute: number];

/**
 * The API key of a call over a lane. Services do not trust gateways: each looks the key up in its own copy of the key
 * table (`keyEntryName(proof)`).
 */
export interface CallKey {
  /** The key's hash (`hashKeyValue`). Only a process that received the key knows it. */
  readonly proof: string;
  /** The client's address, an IPv4 or IPv6 text, as the gateway reports it. */
  readonly address: string;
}

/** What `access` signs for a session that a gateway asked about; the gateway passes it on to other services. */
export interface SessionClaims {
  readonly companyId: number;
  readonly user: ActorUser;
  /** Unix milliseconds by the database's clock. */
  readonly untilMs: number;
}

/**
 * An entry of the key table with which services check `SessionClaims`. `access` derives its signing keys from its
 * key ring, so that every replica has the same ones.
 */
export interface SignerEntry {
  readonly version: number;
  /** Ed25519, SPKI in DER as base64. Null once `access` no longer signs with it. */
  readonly publicKey: string | null;
}

export const signerEntryPrefix = 'signer.';
/** @param id the key's name in the key ring. */
export const signerEntryName = (id: string): string => signerEntryPrefix + id;
