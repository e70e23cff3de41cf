import { z } from 'zod';
import { tooManyAtOnce } from '../errors.ts';
import { defineOperation, scopes } from '../operation.ts';
import { renderProblem } from '../render-problem.ts';
import { id, instant } from '../schemas/values.ts';

/** Of one company, at each gateway. */
export const meAtOnce = 4;

const named = z.object({ id, name: z.string() });

const bucketUse = z.object({
  limit: z.int().min(1).meta({ description: 'Requests per minute.' }),
  used: z.int().min(0).meta({
    description: 'Requests of the key counted in the current minute, those that got 429 included.',
  }),
  resetUtc: instant.meta({ description: 'When the minute ends.' }),
  untilUtc: instant
    .optional()
    .meta({ description: 'With a temporary limit of the company, as for an import: when it ends.' }),
});

const use = (limit: number, used: number) => ({ limit, used, resetUtc: '2026-01-15T09:31:00.000Z' });

/** The gateway adds scopes and limits to the names that `access` answers. */
export const getMe = defineOperation({
  audience: 'key',
  service: 'access',
  method: 'GET',
  path: '/integrations/me',
  scope: null,
  bucket: null,
  errorShape: 'general',
  deadlineMs: 5000,
  tag: 'Keys',
  summary: 'Read the key and its limits',
  description:
    'Answers which key and company the request belongs to, the scopes of the key, and how many requests it has sent in this minute, exactly. Other keys of the company count toward its ceiling too, which is not shown.',
  params: {},
  query: null,
  body: null,
  answers: {
    200: {
      description: 'The key.',
      schema: z.object({
        key: named,
        company: named,
        scopes: z.array(z.enum(scopes)),
        limits: z.object({
          read: bucketUse,
          write: bucketUse,
          admin: bucketUse,
          lookup: bucketUse
            .optional()
            .meta({ description: 'Absent if lookups are counted in the bucket read.' }),
        }),
      }),
      example: {
        key: { id: 12, name: 'Order sync' },
        company: { id: 1001, name: 'Brightwater Partners' },
        scopes: ['integrations:read', 'integrations:write'],
        limits: { read: use(60, 14), write: use(100, 0), admin: use(200, 3) },
      },
    },
  },
  errors: {
    429: {
      description: `The company has ${meAtOnce} such requests under way. Retry in a second.`,
      example: JSON.parse(
        renderProblem(
          'general',
          tooManyAtOnce('me', meAtOnce, 'company', Date.parse('2026-01-15T09:30:00Z')),
          {
            requestId: '',
          },
        ).body,
      ),
    },
  },
});
