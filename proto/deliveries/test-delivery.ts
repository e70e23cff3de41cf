import type { EventType } from '../events.ts';
import type { challengeType } from './challenge.ts';
import type { AttemptFacts } from './tables.ts';

/** A test delivery or a verification challenge, as `webhooks` asks a dispatcher for it (NATS request to `testDeliverySubject`, JSON). */
export interface TestDelivery {
  readonly companyId: number;
  readonly subscriptionId: number;
  /** Goes into `X-Webhook-Id`; the body has the same. */
  readonly eventId: number;
  readonly eventType: EventType | typeof challengeType;
  /** The whole envelope, as it is sent. */
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
  /** No attempt could be made: the subscription is gone, or its secret cannot be opened. */
  | { readonly error: string };
