import type { ActorUser } from './portal.ts';

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
