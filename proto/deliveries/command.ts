/**
 * A committed command that `webhooks` asks a dispatcher to begin (NATS request to `deliveryCommandSubject`, JSON). The
 * empty answer says that its first step is committed. The request may get lost: the command is a row, which the
 * dispatchers find in time.
 */
export type DeliveryCommand =
  | { readonly companyId: number; readonly replayId: number }
  /** The change of a subscription (`SubscriptionChangeRow`). */
  | { readonly companyId: number; readonly subscriptionId: number };
