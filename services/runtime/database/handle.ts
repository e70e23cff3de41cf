import type { Kysely, Transaction } from 'kysely';
import type { Pool } from './pool.ts';

/** Functions that need a transaction take `Trx<DB>`; all others take `Kysely<DB>`. */
export type Database<DB> = Kysely<DB> & DatabaseHandle;

export interface DatabaseHandle {
  ping(): Promise<void>;
  /** The server's time as of the last `ping`. */
  readonly now: () => Date;
  isUp(): boolean;
  use: Pool['use'];
  /** `close` waits for it. A failure is logged. */
  background(effect: () => unknown): void;
  readonly retried: (reason: string) => void;
  readonly shards: Shards | undefined;
  /** Waits up to five seconds for running queries, then closes every connection. */
  close(): Promise<void>;
}

export type Trx<DB> = Transaction<DB> & TransactionEffects;

interface TransactionEffects {
  /** Runs once, after the commit was answered. Work that must not be lost needs a row instead. */
  onCommit(effect: () => unknown): void;
}

export interface Shards {
  learn(): Promise<void>;
  ready(): Promise<void>;
  count(): number;
  /** Empty if no known shard has the company. */
  of(companyId: number): string;
}
