import type { AuditSource } from './audit-log.ts';
import type { NoticeChannel } from './notices.ts';
import { type Role, roleAllows } from './portal.ts';

/** What of a member's work ends with their rights: a row of `member_endings`, from `access` to `webhooks`. */
export interface MemberEnding {
  readonly links: boolean;
  readonly subscriptions: boolean;
  readonly channels: boolean;
  readonly keep: KeptWork;
  readonly by: AuditSource;
}

export interface KeptWork {
  readonly subscriptions: readonly number[];
  readonly channels: readonly NoticeChannel[];
}

/** @param role the new one; null: removed. @returns what the role may not make */
export const endsWith = (role: Role | null) => {
  const may = (least: Role): boolean => role !== null && roleAllows(role, least);
  return { links: !may('developer'), subscriptions: !may('developer'), channels: !may('admin') };
};

export interface MemberEndingRow {
  company_id: number;
  member_id: number;
  ended_utc: Date;
  due_utc: Date;
  done_utc: Date | null;
  ending: string;
  switched_off: string | null;
}
