import type { BodyOf, contract, DeliveryState, EventType, ReplayRow } from '@causeway/proto';

/** What a replay is asked to make again. */
export type ReplayWish = BodyOf<(typeof contract)['createReplay']>;

/** Which events a replay makes deliveries of; all of it is settled when it is begun. */
export interface Selection {
  readonly companyId: number;
  readonly subscriptionId: number;
  /** Of the events' times; `until` is excluded. */
  readonly since: Date;
  readonly until: Date;
  /** Absent: all. */
  readonly types?: readonly EventType[] | undefined;
  /** Deliveries that ended like this. Null: events that no attempt was made for. */
  readonly states: readonly DeliveryState[] | null;
  readonly statusCodes?: readonly number[] | undefined;
  /** What happens after it is none of its business. */
  readonly begun: Date;
}

export const selectionOf = (
  companyId: number,
  wish: ReplayWish,
  subscribedTypes: readonly EventType[],
  begun: Date,
): Selection => {
  const until = wish.until !== undefined && wish.until < begun ? wish.until : begun;
  const types = wish.kind === 'missed' ? (wish.types ?? subscribedTypes) : wish.types;
  return {
    companyId,
    subscriptionId: wish.subscriptionId,
    since: wish.since ?? new Date(0),
    until,
    types: types && [...new Set(types)],
    states: wish.kind === 'missed' ? null : wish.kind === 'failed' ? ['failed'] : [...new Set(wish.states)],
    statusCodes: wish.kind === 'filter' ? wish.statusCodes : undefined,
    begun,
  };
};

/** As the row keeps it, and as it is shown. */
export const filterOf = ({ since, until, types, states, statusCodes }: Selection): string =>
  JSON.stringify({
    ...(since.getTime() > 0 && { since }),
    until,
    types,
    ...(states && { states }),
    statusCodes,
  });

/** What a running replay was begun with. */
export const selectionOfRow = (row: ReplayRow): Selection => {
  const { since, until, types, states, statusCodes } = row.filter as StoredFilter;
  return {
    companyId: row.company_id,
    subscriptionId: row.subscription_id,
    since: since === undefined ? new Date(0) : new Date(since),
    until: new Date(until),
    types,
    states: states ?? null,
    statusCodes,
    begun: row.created_utc,
  };
};

interface StoredFilter {
  readonly since?: string;
  readonly until: string;
  readonly types?: readonly EventType[];
  readonly states?: readonly DeliveryState[];
  readonly statusCodes?: readonly number[];
}
