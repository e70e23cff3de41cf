import type { Bus, Database, Log } from '@causeway/runtime';
import type { KeyTable } from './key-table/key-table.ts';
import type { AccessTables } from './schema.ts';

/** What every operation of this service works with. */
export interface Access {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly table: KeyTable;
  readonly log: Log;
  readonly keyPrefix: string;
  readonly now: () => Date;
  /** A cryptographically secure source of bytes. */
  readonly random: (bytes: number) => Uint8Array;
}
