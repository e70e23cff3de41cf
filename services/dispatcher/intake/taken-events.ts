import type { DeliveryKey, EventType } from '@causeway/proto';

/** An event whose deliveries this process makes, until the lease of its outbox row ends. */
export interface TakenEvent extends Pick<DeliveryKey, 'company_id' | 'event_id' | 'created_utc'> {
  /** The end of the lease. */
  leaseMs: number;
  /** The deliveries of it that have no row yet, by subscription. */
  readonly open: Map<number, LeasedDelivery>;
  /** Those without room at the quota of waiting deliveries. */
  readonly missed: LeasedDelivery[];
  /** The W3C trace context of its message, if it is traced. */
  readonly traceparent?: string | undefined;
}

/** A delivery that this process has leased. */
export type LeasedDelivery = DeliveryKey & {
  readonly event_type: EventType;
  readonly leaseMs: number;
  /** The ID under which this process leases its row (`Holder`); undefined while it has none. */
  holder?: number | undefined;
  /** The event it belongs to, if it was matched here: it may have no row yet. Absent: it was taken from its queue. */
  readonly event?: TakenEvent;
};

/** Whether the delivery has no row yet, as far as this process knows. */
export const hasNoRow = ({ event, subscription_id }: LeasedDelivery): boolean =>
  event?.open.has(subscription_id) ?? false;
