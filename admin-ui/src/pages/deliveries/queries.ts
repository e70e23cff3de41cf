import { type Input, operationQuery } from '../../api/client.ts';

export interface DeliverySearch {
  readonly subscription?: number | undefined;
  readonly event?: number | undefined;
  readonly replay?: number | undefined;
  readonly type?: string | undefined;
  readonly state?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
}

/** The list for the URL of the page. */
export const deliveriesQuery = (search: DeliverySearch, limit = 50) => {
  const query: Input<'listDeliveries'>['query'] = {
    limit,
    subscriptionId: search.subscription,
    eventId: search.event,
    replayId: search.replay,
    type: search.type,
    state: search.state,
    statusCode: search.status,
    errorClass: search.cause,
    since: search.since,
    until: search.until,
    cursor: search.cursor,
  };
  return operationQuery('listDeliveries', { query });
};

export interface DeliveryName {
  readonly event: number;
  readonly subscription: number;
  readonly replay: number;
}

export const deliveryParams = ({ event, subscription, replay }: DeliveryName) => ({
  eventId: event,
  subscriptionId: subscription,
  replayId: replay,
});

export const deliveryQuery = (name: DeliveryName) =>
  operationQuery('getDelivery', { params: deliveryParams(name) });

/** An attempt never changes. */
export const attemptQuery = (name: DeliveryName, attempt: number) => ({
  ...operationQuery('getAttempt', { params: { ...deliveryParams(name), attempt } }),
  staleTime: Number.POSITIVE_INFINITY,
});
