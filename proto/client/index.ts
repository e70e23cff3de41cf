export { type Causeway, createClient } from './client.ts';
export {
  CausewayError,
  Conflict,
  ConnectionLost,
  CursorExpired,
  type Detail,
  Forbidden,
  IdempotencyKeyReused,
  Invalid,
  NotFound,
  PreconditionFailed,
  RateLimited,
  TimedOut,
  Unauthorized,
  Unavailable,
} from './errors.ts';
export type * from './interface.generated.ts';
export type {
  BatchOptions,
  CallOptions,
  ClientOptions,
  CreateOptions,
  ReadOptions,
  UpdateOptions,
  WriteOptions,
} from './options.ts';
export type { Pages } from './pages.ts';
export { type HeadersLike, verifyWebhook, type WebhookDelivery, WebhookInvalid } from './webhooks.ts';
