import type { SessionSigner } from '@causeway/identity';
import type { Bus, Cursors, Database, KeyRing, Log } from '@causeway/runtime';
import type { KeyTable } from './key-table/key-table.ts';
import type { Hasher } from './passwords/hasher.ts';
import type { AccessTables } from './schema.ts';
import type { Refusals } from './sessions/attempts.ts';
import type { Gate, Reserve } from './sessions/gate.ts';
import type { Devices } from './sessions/subjects.ts';
import type { Signer } from './sessions/token.ts';

/** What every operation of this service needs. */
export interface Access {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly table: KeyTable;
  readonly log: Log;
  readonly keyPrefix: string;
  /** Active keys that a company may have. */
  readonly keyQuota: number;
  readonly portal: PortalSettings;
  readonly passwords: Hasher;
  readonly refusals: Refusals;
  /** Separate gates, so that neither signed-in members nor strangers can use up the other's capacity. */
  readonly gates: { readonly strangers: Gate; readonly members: Gate };
  readonly reserve: Reserve;
  readonly sessionTokens: Signer;
  /** Signs proofs of a session, which other services check. */
  readonly sessionProofs: SessionSigner;
  readonly devices: Devices;
  readonly cursors: Cursors<'audit' | 'keys' | 'keys by use'>;
  readonly now: () => Date;
  /** A cryptographically secure source of bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

/** Settings of the portal. */
export interface PortalSettings {
  /** Seals the secrets of second factors. */
  readonly keyRing: KeyRing;
  readonly idleTimeoutMs: number;
  readonly sessionTimeoutMs: number;
  /** Requests a minute; `lookup` is null where lookups count as reads. */
  readonly limits: {
    readonly read: number;
    readonly write: number;
    readonly admin: number;
    readonly lookup: number | null;
  };
  readonly features: { readonly allowHttp: boolean; readonly allowPrivate: boolean };
  /** Null: the interface is at the portal's origin. */
  readonly baseUrl: string | null;
  readonly retentionDays: number;
  /** From the first attempt of a delivery to its last. */
  readonly retryForMs: number;
}
