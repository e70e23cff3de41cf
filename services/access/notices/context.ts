import type { Bus, Database, KeyRing, Log, Metrics } from '@causeway/runtime';
import type { PortalSettings } from '../context.ts';
import type { AccessTables, RowOf } from '../schema.ts';
import type { Mail } from './mail.ts';

export interface NoticesContext {
  readonly bus: Bus;
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly keyRing: KeyRing;
  readonly limits: PortalSettings['limits'];
  /** Null: this installation sends no mail. */
  readonly mail: Mail | null;
  /** How long notices wait for others of their kind. */
  readonly gatherMs: number;
}

export const sendColumns = [
  'company_id',
  'send_id',
  'channel',
  'group_id',
  'user_id',
  'sealed',
  'attempts',
  'created_utc',
] as const;
export type Send = RowOf<'notice_sends', typeof sendColumns>;
