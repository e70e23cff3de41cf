import type { LimitsAnswer } from '@causeway/proto';

/** A row's own limits, in requests a minute; null means the configured one. */
export interface LimitRow {
  readonly limit_read: number | null;
  readonly limit_write: number | null;
  readonly limit_admin: number | null;
  readonly limit_lookup: number | null;
}

export const limitColumns = ['limit_read', 'limit_write', 'limit_admin', 'limit_lookup'] as const;

export const limitsAnswer = (row: LimitRow): LimitsAnswer => ({
  read: row.limit_read,
  write: row.limit_write,
  admin: row.limit_admin,
  lookup: row.limit_lookup,
});
