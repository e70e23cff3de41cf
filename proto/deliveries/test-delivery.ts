import type { EventType } from '../events.ts';
import type { challengeType } from './challenge.ts';
import type { AttemptFacts } from './tables.ts';

/**
 * A test delivery or a verification challenge, which `webhooks` requests from a dispatcher (NATS request to
 * `testDeliverySubject`, JSON).
 */
export interface TestDelivery {
  readonly companyId: number;
  readonly subscriptionId: number;
  /** The value of `X-Webhook-Id`, and the `id` in the body. */
  readonly eventId: number;
  readonly eventType: EventType | typeof challengeType;
  /** The whole envelope, as sent. */
  readonly body: string;
}

/** The result. Dates are ISO text and the response body is base64, because JSON has neither type. */
export type TestDeliveryAnswer =
  | {
      readonly attempt: Omit<AttemptFacts, 'started_utc' | 'response_body'> & {
        readonly started_utc: string;
        readonly response_body: string | null;
      };
    }
  /** No attempt was possible: the subscription was deleted, or its secret cannot be decrypted. */
  | { readonly error: string };
