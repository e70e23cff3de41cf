import type { Kysely, Transaction } from 'kysely';
import type { Pool } from './pool.ts';

/**
 * A service's handle on its database. Functions that work inside and outside a transaction take `Kysely<DB>`;
 * those that need a transaction take `Trx<DB>`.
 */
export type Database<DB> = Kysely<DB> & DatabaseHandle;

export interface DatabaseHandle {
  /** Sets the clock. @throws DatabaseUnavailable */
  ping(): Promise<void>;
  /** The server's time as of the last `ping`. */
  readonly now: () => Date;
  isUp(): boolean;
  use: Pool['use'];
  /** Runs a side effect in the background; `close` waits for it. A failure is logged. */
  background(effect: () => unknown): void;
  readonly retried: (reason: string) => void;
  /** Undefined unless the database is sharded: see `byShard`. */
  readonly shards: Shards | undefined;
  /** Waits up to five seconds for running queries, then closes every connection. */
  close(): Promise<void>;
}

export type Trx<DB> = Transaction<DB> & TransactionEffects;

interface TransactionEffects {
  /**
   * Registers an effect that runs once after the commit was answered, in order. A failure is logged and not
   * thrown, because the transaction has succeeded. Work that must not be lost needs a row instead.
   */
  onCommit(effect: () => unknown): void;
}

export interface Shards {
  /** Called when vtgate has refused a transaction because it spans shards: shards were split. */
  learn(): Promise<void>;
  ready(): Promise<void>;
  /** Empty if no known shard has the company. */
  of(companyId: number): string;
  readonly open?: ((shard: string) => unknown) | undefined;
}
