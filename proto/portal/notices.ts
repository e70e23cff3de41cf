import { z } from 'zod';
import { noticeChannels, noticeKinds } from '../notices.ts';
import { defineOperation, memberDefaults } from '../operation.ts';
import { limitParameter } from '../schemas/fields.ts';
import { count, id, instant } from '../schemas/values.ts';
import { targetUrl } from '../schemas/webhooks.ts';
import { cursorParameter, nextPage } from './fields.ts';

const memberRead = { ...memberDefaults, service: 'access', role: 'viewer' } as const;
const kind = z.enum(noticeKinds);

const notice = z.object({
  id,
  kind,
  createdUtc: instant,
  title: z.string(),
  text: z.string(),
  path: z.string().meta({ description: 'Of the portal page that it is about, below `/portal`.' }),
  read: z.boolean(),
});

/** Those that the member's role may see, the newest first. */
export const listNotices = defineOperation({
  ...memberRead,
  method: 'GET',
  path: '/notices',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
    cursor: cursorParameter,
  }),
  answers: {
    200: {
      schema: z.object({
        notices: z.array(notice),
        unread: count.meta({ description: 'At most 100.' }),
        ...nextPage,
      }),
    },
  },
});

/** Marks this notice, and all that came before it, as read. */
export const readNotices = defineOperation({
  ...memberRead,
  method: 'POST',
  path: '/notices/read',
  body: z.strictObject({ upTo: id }),
  answers: { 204: { schema: null } },
});

const settings = z.object({
  mailsFrom: z
    .string()
    .nullable()
    .meta({ description: 'The sender of mails; null if this installation sends none.' }),
  kinds: z.array(
    z.object({
      kind,
      title: z.string(),
      description: z.string(),
      mail: z.boolean(),
    }),
  ),
});

export const getNoticeSettings = defineOperation({
  ...memberRead,
  method: 'GET',
  path: '/notices/settings',
  answers: { 200: { schema: settings } },
});

export const updateNoticeSettings = defineOperation({
  ...memberRead,
  method: 'PATCH',
  path: '/notices/settings',
  body: z.strictObject({ mail: z.partialRecord(kind, z.boolean()) }),
  answers: { 200: { schema: settings } },
});

const company = { ...memberDefaults, service: 'webhooks', role: 'admin' } as const;
const channel = z.enum(noticeChannels);

const channels = z.object({
  channels: z.array(
    z.object({
      channel,
      url: z
        .string()
        .meta({ description: 'Of a Slack URL, which is a secret, the host and the last four characters.' }),
      kinds: z.array(kind),
      last: z
        .object({ utc: instant, statusCode: count.nullable(), error: z.string().nullable() })
        .nullable()
        .meta({ description: 'The latest post.' }),
    }),
  ),
  kinds: z.array(z.object({ kind, title: z.string() })),
});

export const getNoticeChannels = defineOperation({
  ...company,
  method: 'GET',
  path: '/notices/channels',
  answers: { 200: { schema: channels } },
});

/** `url: null` removes the channel. A new signed channel gets a secret, which is shown once. */
export const updateNoticeChannel = defineOperation({
  ...company,
  method: 'PATCH',
  path: '/notices/channels',
  body: z.strictObject({
    channel,
    url: targetUrl.nullable().optional(),
    kinds: z.array(kind).max(noticeKinds.length).optional(),
    newSecret: z.literal(true).optional().meta({ description: 'The earlier secret ends at once.' }),
  }),
  answers: { 200: { schema: channels.extend({ signingSecret: z.string().nullable() }) } },
  errors: [404],
});

/** Posts a message of the type `operational.test`. */
export const testNoticeChannel = defineOperation({
  ...company,
  method: 'POST',
  path: '/notices/channels/test',
  deadlineMs: 15_000,
  body: z.strictObject({ channel }),
  answers: {
    200: {
      schema: z.object({
        success: z.boolean(),
        statusCode: count.nullable(),
        error: z.string().nullable(),
      }),
    },
  },
  errors: [404],
});
