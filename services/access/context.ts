import type { KeyRing } from '@causeway/proto';
import type { Bus, Database, Log } from '@causeway/runtime';
import type { KeyTable } from './key-table/key-table.ts';
import type { Hasher } from './portal/hasher.ts';
import type { AccessTables } from './schema.ts';

/** What every operation of this service works with. */
export interface Access {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly table: KeyTable;
  readonly log: Log;
  readonly keyPrefix: string;
  readonly portal: PortalSettings;
  readonly passwords: Hasher;
  readonly now: () => Date;
  /** A cryptographically secure source of bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

/** What the portal goes by. */
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
  /** Null: the interface is where the portal is. */
  readonly baseUrl: string | null;
  readonly retentionDays: number;
}
