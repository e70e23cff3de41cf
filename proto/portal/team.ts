import { z } from 'zod';
import { noticeChannels } from '../notices.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { roles } from '../portal.ts';
import { email } from '../schemas/fields.ts';
import { count, fieldName, id, instant } from '../schemas/values.ts';

const team = { ...memberDefaults, service: 'access', role: 'admin' } as const;

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
  passkeys: count,
  createdUtc: instant,
  lastSignInUtc: instant.nullable(),
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

export const listTeam = defineOperation({
  ...team,
  method: 'GET',
  path: '/team',
  role: 'developer',
  answers: { 200: { schema: z.object({ members: z.array(member), invitations: z.array(invitation) }) } },
});

const notMailed =
  'False if the installation sends no mail, or beyond the bounds of link mails: hand the link over yourself.';

/** A second invitation of one address replaces the first. */
export const inviteMember = defineOperation({
  ...team,
  freshProof: true,
  method: 'POST',
  repeat: 'once',
  path: '/team/invitations',
  body: z.strictObject({ email, role }),
  answers: {
    201: {
      schema: z.object({
        invitation,
        link: z.string().meta({ description: 'Path and fragment below the origin of the portal.' }),
        mailed: z.boolean().meta({ description: `The link also goes to the address by mail. ${notMailed}` }),
      }),
    },
  },
});

export const revokeInvitation = defineOperation({
  ...team,
  freshProof: true,
  method: 'DELETE',
  path: '/team/invitations/{id}',
  answers: { 204: { schema: null } },
});

const keepKeys = {
  description:
    'IDs of keys that the member created and that stay active when the member loses rights. All others are revoked.',
};
const keepSubscriptions = {
  description:
    'IDs of subscriptions that the member, or a key of theirs, created or moved and that stay on. All others are switched off.',
};
const keepChannels = {
  description: 'Company channels that the member set up or moved and that stay. All others are removed.',
};
const channel = z.enum(noticeChannels);

const memberKey = z.object({
  id,
  name: z.string(),
  masked: z.string(),
  createdUtc: instant,
  lastUsedUtc: instant.nullable(),
});

export const listMemberKeys = defineOperation({
  ...team,
  method: 'GET',
  path: '/team/members/{id}/keys',
  answers: { 200: { schema: z.object({ keys: z.array(memberKey) }) } },
});

const memberSubscription = z.object({
  id,
  name: z.string().nullable(),
  url: z.string(),
  enabled: z.boolean(),
});

/** What else they, or a key of theirs, created or moved. */
export const listMemberWork = defineOperation({
  ...team,
  service: 'webhooks',
  method: 'GET',
  path: '/team/members/{id}/work',
  answers: {
    200: {
      schema: z.object({
        links: count.meta({ description: 'To deliveries; those that work.' }),
        subscriptions: z.array(memberSubscription),
        channels: z.array(z.object({ channel, url: z.string() })),
        secrets: z.array(memberSubscription.omit({ enabled: true })).meta({
          description: 'Subscriptions whose present signing secret was shown to them.',
        }),
      }),
    },
  },
});

/** From the next request on. A lower role also ends what they created and may not create any more, and their keys. */
export const changeRole = defineOperation({
  ...team,
  freshProof: true,
  method: 'PATCH',
  path: '/team/members/{id}',
  deadlineMs: 15_000,
  body: z.strictObject({
    role,
    keepKeys: z.array(id).max(1000).default([]).meta(keepKeys),
    keepSubscriptions: z.array(id).max(1000).default([]).meta(keepSubscriptions),
    keepChannels: z.array(channel).max(noticeChannels.length).default([]).meta(keepChannels),
  }),
  answers: { 200: { schema: member } },
  // A company keeps at least one owner.
  errors: [409],
});

/** It replaces an earlier link. */
export const offerPasswordReset = defineOperation({
  ...team,
  freshProof: true,
  method: 'POST',
  path: '/team/members/{id}/password-reset',
  answers: {
    201: {
      schema: z.object({
        link: z.string().meta({ description: 'Path and fragment below the origin of the portal.' }),
        expiresUtc: instant,
        mailed: z.boolean().meta({ description: `The link also goes to the member by mail. ${notMailed}` }),
      }),
    },
  },
  errors: [409],
});

/** For a member who lost the app and the recovery codes. Their sessions, known devices and reset link end. */
export const resetSecondFactor = defineOperation({
  ...team,
  freshProof: true,
  method: 'POST',
  path: '/team/members/{id}/two-factor-reset',
  role: 'owner',
  answers: { 204: { schema: null } },
  // Their own, which takes the password and a code; or it is off.
  errors: [409],
});

/** Their sessions end, and with them what they created, except what is kept. */
export const removeMember = defineOperation({
  ...team,
  freshProof: true,
  method: 'DELETE',
  path: '/team/members/{id}',
  deadlineMs: 15_000,
  query: z.strictObject({
    keepKeys: idList.meta(keepKeys),
    keepSubscriptions: idList.meta(keepSubscriptions),
    keepChannels: z
      .string()
      .regex(/^(?:(?:webhook|slack)(?:,(?:webhook|slack))?)?$/, {
        error: `${fieldName} must be channels separated by commas`,
      })
      .default('')
      .transform((list) => noticeChannels.filter((one) => list.split(',').includes(one)))
      .meta(keepChannels),
  }),
  answers: { 204: { schema: null } },
  // A company keeps at least one owner.
  errors: [409],
});

/** Members without a second factor can then only set one up, from their next request on. */
export const requireSecondFactor = defineOperation({
  ...team,
  freshProof: true,
  method: 'PATCH',
  path: '/team/second-factor',
  body: z.strictObject({ required: z.boolean() }),
  answers: { 204: { schema: null } },
  // Who switches it on has no second factor.
  errors: [409],
});
