import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { roles } from '../portal.ts';
import { email } from '../schemas/fields.ts';
import { recordMissing } from '../schemas/records.ts';
import { fieldName } from '../schemas/text.ts';
import { id, instant } from '../schemas/values.ts';

const team = { service: 'access', role: 'admin', deadlineMs: 5000, query: null, params: {} } as const;

const idList = z
  .string()
  .regex(/^(?:[1-9]\d{0,15}(?:,[1-9]\d{0,15}){0,999})?$/, {
    error: `${fieldName} must be ids separated by commas`,
  })
  .default('')
  .transform((list) => list.split(',').filter(Boolean).map(Number));

const role = z.enum(roles, { error: `${fieldName} must be one of ${roles.join(', ')}` });

const member = z.object({
  id,
  name: z.string(),
  email: z.string(),
  role,
  totpEnabled: z.boolean(),
  createdUtc: instant,
  lastSignInUtc: instant.nullable(),
  /** True for the member who asks. */
  you: z.boolean(),
});

const invitation = z.object({
  id,
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdUtc: instant,
  expiresUtc: instant,
  expired: z.boolean(),
});

const memberExample = {
  id: 7,
  name: 'Katherine Johnson',
  email: 'katherine@example.com',
  role: 'owner',
  totpEnabled: true,
  createdUtc: '2026-01-15T09:30:00.000Z',
  lastSignInUtc: '2026-01-15T09:30:00.000Z',
  you: true,
};
const invitationExample = {
  id: 4,
  email: 'dorothy@example.com',
  role: 'developer',
  invitedBy: 'Katherine Johnson',
  createdUtc: '2026-01-15T09:30:00.000Z',
  expiresUtc: '2026-01-22T09:30:00.000Z',
  expired: false,
};

const ownersOnly = {
  description: 'Only an owner may add, change or remove owners.',
  example: { error: 'this needs the role owner', reason: 'role_required' },
};
const lastOwner = {
  description: 'A company keeps at least one owner.',
  example: { error: 'a company needs an owner; make another member an owner first', reason: 'conflict' },
};

export const listTeam = defineOperation({
  audience: 'member',
  ...team,
  id: 'listTeam',
  method: 'GET',
  path: '/team',
  role: 'developer',
  summary: 'The members of the company and the open invitations',
  body: null,
  answers: {
    200: {
      description: 'The team.',
      schema: z.object({ members: z.array(member), invitations: z.array(invitation) }),
      example: { members: [memberExample], invitations: [invitationExample] },
    },
  },
  errors: {},
});

export const inviteMember = defineOperation({
  audience: 'member',
  ...team,
  id: 'inviteMember',
  method: 'POST',
  path: '/team/invitations',
  summary: 'Invite someone by a link; a second invitation of one address replaces the first',
  body: z.strictObject({ email, role }),
  answers: {
    201: {
      description: 'The invitation, and its link. The link is shown in this answer only.',
      schema: z.object({
        invitation,
        link: z.string().meta({ description: 'Path and fragment below the origin of the portal.' }),
      }),
      example: {
        invitation: invitationExample,
        link: '/portal/invitation#t0kenOfFortyThreeCharacters0123456789abcdefg',
      },
    },
  },
  errors: { 403: ownersOnly },
});

export const revokeInvitation = defineOperation({
  audience: 'member',
  ...team,
  id: 'revokeInvitation',
  method: 'DELETE',
  path: '/team/invitations/{id}',
  params: { id: 'ID of the invitation.' },
  summary: 'Revoke an invitation',
  body: null,
  answers: { 204: { description: 'Its link no longer works.', schema: null } },
  errors: { 404: recordMissing('invitation') },
});

const keepKeys = {
  description:
    'IDs of keys that the member created and that stay active when the member loses rights. All others are revoked.',
};

const memberKey = z.object({
  id,
  name: z.string(),
  masked: z.string(),
  createdUtc: instant,
  lastUsedUtc: instant.nullable(),
});

export const listMemberKeys = defineOperation({
  audience: 'member',
  ...team,
  id: 'listMemberKeys',
  method: 'GET',
  path: '/team/members/{id}/keys',
  params: { id: 'ID of the member.' },
  summary: 'The active API keys that a member created',
  body: null,
  answers: {
    200: {
      description: 'The keys, the newest first.',
      schema: z.object({ keys: z.array(memberKey) }),
      example: {
        keys: [
          {
            id: 12,
            name: 'Zapier',
            masked: 'crm_1001_…x7Qa',
            createdUtc: '2026-01-15T09:30:00.000Z',
            lastUsedUtc: null,
          },
        ],
      },
    },
  },
  errors: { 404: recordMissing('member') },
});

export const changeRole = defineOperation({
  audience: 'member',
  ...team,
  id: 'changeRole',
  method: 'PATCH',
  path: '/team/members/{id}',
  params: { id: 'ID of the member.' },
  deadlineMs: 15_000,
  summary:
    'Change a member’s role from their next request on. A lower role also ends the invitations, reset links and keys that they created.',
  body: z.strictObject({ role, keepKeys: z.array(id).max(1000).default([]).meta(keepKeys) }),
  answers: { 200: { description: 'The member.', schema: member, example: memberExample } },
  errors: { 403: ownersOnly, 404: recordMissing('member'), 409: lastOwner },
});

export const offerPasswordReset = defineOperation({
  audience: 'member',
  ...team,
  id: 'offerPasswordReset',
  method: 'POST',
  path: '/team/members/{id}/password-reset',
  params: { id: 'ID of the member.' },
  summary: 'Create a password reset link for a member; it replaces an earlier one',
  body: null,
  answers: {
    201: {
      description: 'The link, shown in this answer only. It works once, and for an hour.',
      schema: z.object({
        link: z.string().meta({ description: 'Path and fragment below the origin of the portal.' }),
        expiresUtc: instant,
      }),
      example: {
        link: '/portal/password#t0kenOfFortyThreeCharacters0123456789abcdefg',
        expiresUtc: '2026-01-15T10:30:00.000Z',
      },
    },
  },
  errors: {
    403: ownersOnly,
    404: recordMissing('member'),
    409: {
      description:
        'Members cannot create a link for themselves, because that would bypass the current password.',
      example: { error: 'change your own password under Your security', reason: 'conflict' },
    },
  },
});

export const removeMember = defineOperation({
  audience: 'member',
  ...team,
  id: 'removeMember',
  method: 'DELETE',
  path: '/team/members/{id}',
  params: { id: 'ID of the member.' },
  deadlineMs: 15_000,
  summary:
    'Remove a member. Their sessions end, and with them the invitations, reset links and keys that they created.',
  query: z.strictObject({ keepKeys: idList.meta(keepKeys) }),
  body: null,
  answers: { 204: { description: 'Removed.', schema: null } },
  errors: { 403: ownersOnly, 404: recordMissing('member'), 409: lastOwner },
});
