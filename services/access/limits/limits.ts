import type { LimitsAnswer } from '@causeway/proto';

/** A row's own limits, in requests a minute; null is "as configured". */
export interface LimitRow {
  readonly limit_read: number | null;
  readonly limit_write: number | null;
  readonly limit_admin: number | null;
}

export const limitColumns = ['limit_read', 'limit_write', 'limit_admin'] as const;

export const limitsAnswer = ({ limit_read, limit_write, limit_admin }: LimitRow): LimitsAnswer => ({
  read: limit_read,
  write: limit_write,
  admin: limit_admin,
});
