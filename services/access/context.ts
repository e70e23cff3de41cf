import type { SessionSigner } from '@causeway/identity';
import type { Bus, Cursors, Database, Gate, Log, Once } from '@causeway/runtime';
import type { portalSettings } from './config.ts';
import type { KeyTablePublisher } from './key-table/key-table.ts';
import type { Hasher } from './passwords/hasher.ts';
import type { AccessTables } from './schema.ts';
import type { Refusals } from './sessions/refusals.ts';
import type { Reserve } from './sessions/reserve.ts';
import type { Devices } from './sessions/subjects.ts';
import type { Signer } from './sessions/token.ts';

export interface Access {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly once: Once<AccessTables>;
  readonly table: KeyTablePublisher;
  readonly log: Log;
  readonly keyPrefix: string;
  readonly keyQuota: number;
  readonly portal: PortalSettings;
  /** The sender of mails; null: this installation sends none. */
  readonly mailsFrom: string | null;
  readonly passwords: Hasher;
  readonly refusals: Refusals;
  /** Separate gates, so that nobody can use up the capacity of others: strangers' passwords cost a hash, their passkeys none. */
  readonly gates: { readonly strangers: Gate; readonly passkeys: Gate; readonly members: Gate };
  readonly reserve: Reserve;
  readonly sessionTokens: Signer;
  readonly challenges: Signer;
  readonly sessionProofs: SessionSigner;
  readonly devices: Devices;
  readonly cursors: Cursors<'audit' | 'keys' | 'keys by use' | 'notices' | 'requests'>;
  readonly now: () => Date;
  /** A cryptographically secure source of bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

export type PortalSettings = ReturnType<typeof portalSettings>;
