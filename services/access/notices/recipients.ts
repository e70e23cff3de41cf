import { type NoticeKind, noticeKindFacts, noticeKinds, type Role, roleAllows } from '@causeway/proto';
import type { Selectable } from 'kysely';
import type { AccessTables } from '../schema.ts';

type Recipient = Pick<Selectable<AccessTables['portal_users']>, 'id' | 'role' | 'notice_mail'>;

export const kindsFor = (role: Role): readonly NoticeKind[] =>
  noticeKinds.filter((kind) => roleAllows(role, noticeKindFacts[kind].least));

/** Whether the member may see it: by their role, or because it is about their own rights. */
export const maySee = (
  { id, role }: Recipient,
  { kind, user_id }: { readonly kind: NoticeKind; readonly user_id: number | null },
): boolean => user_id === id || roleAllows(role, noticeKindFacts[kind].least);

/** The member's choice; else it follows from the role, and changes of one's own rights are mailed to everybody. */
export const wantsMail = (member: Recipient, kind: NoticeKind): boolean =>
  choicesOf(member)[kind] ??
  (kind === 'access_changed' || roleAllows(member.role, noticeKindFacts[kind].mailFrom));

export const choicesOf = ({
  notice_mail,
}: Pick<Recipient, 'notice_mail'>): Partial<Record<NoticeKind, boolean>> =>
  notice_mail === null ? {} : (JSON.parse(notice_mail) as Partial<Record<NoticeKind, boolean>>);
