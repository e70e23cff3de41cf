import { detailCodes } from '../errors.ts';
import type { Json } from './components.ts';
import { sharedCodes } from './error-answers.ts';

const id = { type: 'integer', format: 'int64', maximum: Number.MAX_SAFE_INTEGER };
const details = {
  type: 'array',
  description: 'With 400: every problem of the request. The first one is also the main text.',
  items: {
    type: 'object',
    properties: {
      field: { type: 'string' },
      code: {
        type: 'string',
        enum: Object.keys(detailCodes),
        description: Object.entries(detailCodes)
          .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
          .join('\n'),
      },
      message: { type: 'string' },
      conflicting_client_id: { ...id, description: 'The lead or client that has the `external_id`.' },
      conflicting_employee_id: {
        ...id,
        description: 'The affiliate or employee that has the `external_id`.',
      },
    },
    required: ['field', 'code', 'message'],
  },
};
const common = {
  details,
  reason: {
    type: 'string',
    enum: ['lock_timeout', 'keys_unavailable', 'service_unavailable', 'timeout', 'network_not_allowed'],
    description: 'With 503 and 504, and where the key may not be used from the address.',
  },
  retryAfter: { type: 'integer', description: 'With `lock_timeout`: seconds to wait.' },
  requestId: { type: 'string', description: 'With 500.' },
};

/** Contract, "Requests and errors". */
export const errorSchemas: Json = {
  ApiError: {
    type: 'object',
    description: 'The general shape of an error.',
    properties: {
      error: { type: 'string', description: 'What went wrong, in a sentence.' },
      ...common,
      reason: {
        type: 'string',
        enum: [
          ...common.reason.enum,
          'cursor_expired',
          'idempotency_in_progress',
          'idempotency_key_reused',
          'version_mismatch',
          'not_found',
          'already_exists',
          'duplicate_item',
          'not_started',
        ],
        description:
          'With 410, 412, 503 and 504, with a 409 or 422 for an `Idempotency-Key`, and with items of a batch.',
      },
      version: { type: 'integer', description: 'With `version_mismatch`: the version of the record.' },
      client_id: { ...id, description: 'With `already_exists`: the lead or client.' },
      employee_id: { ...id, description: 'With `already_exists`: the affiliate.' },
      client_note_id: { ...id, description: 'With `already_exists`: the note.' },
      oldestUtc: {
        type: ['string', 'null'],
        format: 'date-time',
        description:
          'With `cursor_expired`: when the oldest event still in the log was created; null if there is none.',
      },
      message: { type: 'string', description: 'With `lock_timeout`: what to do.' },
      hint: { type: 'string' },
      subscribedEventTypes: { type: 'array', items: { type: 'string' } },
      managed_by: { type: 'string' },
      is_tool_managed: { type: 'boolean' },
      quota: {
        type: 'string',
        enum: ['subscriptions', 'keys'],
        description: 'With 400: the quota that is used up.',
      },
      limit: { type: 'integer', description: 'With `quota`: how many the company may have.' },
      previousSecretUntil: {
        type: 'string',
        format: 'date-time',
        description: 'With 409 of a rotation: until when the previous secret also signs.',
      },
    },
    required: ['error'],
  },
  LookupError: {
    type: 'object',
    description: 'The shape of an error of the lookup endpoints.',
    properties: {
      error_code: { type: 'string', enum: sharedCodes.filter((code) => code !== 'rate_limit_exceeded') },
      message: { type: 'string', description: 'What went wrong, in a sentence.' },
      ...common,
    },
    required: ['error_code', 'message'],
  },
  RateLimitExceeded: {
    type: 'object',
    properties: {
      error: { type: 'string' },
      retryAfter: { type: 'integer', minimum: 1, description: 'Seconds until the window ends.' },
      limit: { type: 'integer' },
      window: { type: 'string' },
      policy: { type: 'string' },
      resetUtc: { type: 'string', format: 'date-time' },
      currentUsage: { type: 'integer', description: 'Requests counted in the window, this one included.' },
    },
    required: ['error', 'retryAfter', 'limit', 'window', 'policy', 'resetUtc', 'currentUsage'],
  },
  LookupRateLimitExceeded: {
    type: 'object',
    properties: {
      error_code: { type: 'string', enum: ['rate_limit_exceeded'] },
      message: { type: 'string' },
      retry_after_seconds: { type: 'integer', minimum: 1 },
    },
    required: ['error_code', 'message', 'retry_after_seconds'],
  },
};
