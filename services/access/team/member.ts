import type { AnswerTo, Role } from '@causeway/proto';

export type MemberAnswer = AnswerTo<'listTeam'>['members'][number];
export type InvitationAnswer = AnswerTo<'listTeam'>['invitations'][number];

export const memberColumns = [
  'id',
  'name',
  'email',
  'role',
  'totp_enabled',
  'created_utc',
  'last_sign_in_utc',
] as const;

interface MemberRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly totp_enabled: number;
  readonly created_utc: Date;
  readonly last_sign_in_utc: Date | null;
}

export const memberAnswer = (row: MemberRow, askerId: number): MemberAnswer => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  totpEnabled: row.totp_enabled === 1,
  createdUtc: row.created_utc.toISOString(),
  lastSignInUtc: row.last_sign_in_utc?.toISOString() ?? null,
  you: row.id === askerId,
});

export const invitationColumns = [
  'invitation_id',
  'email',
  'role',
  'invited_by_name',
  'created_utc',
  'expires_utc',
] as const;

interface InvitationRow {
  readonly invitation_id: number;
  readonly email: string;
  readonly role: Role;
  readonly invited_by_name: string;
  readonly created_utc: Date;
  readonly expires_utc: Date;
}

export const invitationAnswer = (row: InvitationRow, now: Date): InvitationAnswer => ({
  id: row.invitation_id,
  email: row.email,
  role: row.role,
  invitedBy: row.invited_by_name,
  createdUtc: row.created_utc.toISOString(),
  expiresUtc: row.expires_utc.toISOString(),
  expired: row.expires_utc <= now,
});
