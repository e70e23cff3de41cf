import { z } from 'zod';
import { errorClasses } from '../delivery-states.ts';
import { noticeChannels } from '../notices.ts';
import { defineOperation } from '../operation.ts';
import { cursorParameter, nextPage } from '../portal/fields.ts';
import { undelivered } from '../portal/subscriptions.ts';
import { idParameter, limitParameter } from '../schemas/fields.ts';
import { actionInvalid, recordMissing } from '../schemas/records.ts';
import { id, instant } from '../schemas/values.ts';

const incidents = {
  service: 'webhooks',
  method: 'GET',
  deadlineMs: 5000,
  query: null,
  body: null,
} as const;
const key = {
  scope: 'webhooks:write',
  bucket: 'read',
  errorShape: 'general',
  tag: 'Webhook subscriptions',
} as const;
const member = { role: 'viewer', errors: [] } as const;

const incident = z.object({
  id,
  subscriptionId: id,
  sinceUtc: instant.meta({ description: 'The first counted failure in a row.' }),
  untilUtc: instant.nullable().meta({ description: 'Null while it is open.' }),
  firstErrorClass: z.enum(errorClasses),
  firstStatusCode: z.int().min(100).max(599).nullable(),
  recoveredUtc: instant.nullable().meta({ description: 'The first success after it was last broken.' }),
  undelivered: undelivered.meta({ description: 'Of its subscription, now; zero once it has ended.' }),
  lastSuccessUtc: instant.nullable().meta({ description: 'To the minute; null: none in seven days.' }),
  told: z
    .array(z.object({ channel: z.enum(['mail', ...noticeChannels]), memberId: id.nullable(), utc: instant }))
    .meta({ description: 'Which messages of its beginning were accepted: a mail to a member, or a post.' }),
  nextAttemptUtc: instant.nullable().meta({ description: 'Null while nothing is attempted.' }),
});

const example = {
  id: 7,
  subscriptionId: 42,
  sinceUtc: '2026-01-15T09:30:00.000Z',
  untilUtc: null,
  firstErrorClass: 'status' as const,
  firstStatusCode: 503,
  recoveredUtc: null,
  undelivered: { count: 120, isMore: false, oldestUtc: '2026-01-15T09:30:00.000Z' },
  lastSuccessUtc: '2026-01-15T09:29:00.000Z',
  told: [{ channel: 'slack' as const, memberId: null, utc: '2026-01-15T09:30:12.000Z' }],
  nextAttemptUtc: '2026-01-15T09:45:00.000Z',
};

const list = z.object({
  incidents: z.array(incident).max(100),
  ...nextPage,
});

const query = z.strictObject({
  state: z.enum(['open', 'ended']).optional().meta({ description: 'All by default.' }),
  subscriptionId: idParameter.optional().meta({ description: 'Only those of this subscription.' }),
  limit: limitParameter({ min: 1, max: 100, otherwise: 25 }),
  cursor: cursorParameter,
});

export const listIncidents = defineOperation({
  ...incidents,
  query,
  callers: {
    key: {
      ...key,
      path: '/webhooks/incidents',
      summary: 'List the incidents of receivers',
      description:
        'The newest first. An incident is a broken receiver’s time until it has caught up; kept 90 days.',
      params: {},
      answers: {
        200: {
          description: 'The incidents, and the cursor of the next page.',
          schema: list,
          example: { incidents: [example], nextCursor: null, hasMore: false },
        },
      },
      errors: { 400: actionInvalid('cursor', 'invalid_characters', 'invalid cursor') },
    },
    member: { ...member, id: 'listPortalIncidents', path: '/incidents', answers: { 200: { schema: list } } },
  },
});

export const getIncident = defineOperation({
  ...incidents,
  ...key,
  audience: 'key',
  path: '/webhooks/incidents/{id}',
  summary: 'Read one incident',
  params: { id: 'ID of the incident.' },
  answers: { 200: { description: 'The incident.', schema: incident, example } },
  errors: { 404: recordMissing('incident') },
});
