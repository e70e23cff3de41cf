import type { BodyOf, contract, DeliveryState, EventType, ReplayRow } from '@causeway/proto';

/** The request to replay. */
export type ReplayWish = BodyOf<(typeof contract)['createReplay']>;

/** Which events a replay delivers; fixed when it starts. */
export interface Selection {
  readonly companyId: number;
  readonly subscriptionId: number;
  /** The range of the events' times; `until` is excluded. */
  readonly since: Date;
  readonly until: Date;
  /** Absent: all. */
  readonly types?: readonly EventType[] | undefined;
  /** Deliveries that ended in these states. Null: events without any attempt. */
  readonly states: readonly DeliveryState[] | null;
  readonly statusCodes?: readonly number[] | undefined;
  /** Ignores anything that happened after the replay started. */
  readonly startedUtc: Date;
}

export const selectionOf = (
  companyId: number,
  wish: ReplayWish,
  subscribedTypes: readonly EventType[],
  startedUtc: Date,
): Selection => {
  const until = wish.until !== undefined && wish.until < startedUtc ? wish.until : startedUtc;
  const types = wish.kind === 'missed' ? (wish.types ?? subscribedTypes) : wish.types;
  return {
    companyId,
    subscriptionId: wish.subscriptionId,
    since: wish.since ?? new Date(0),
    until,
    types: types && [...new Set(types)],
    states: wish.kind === 'missed' ? null : wish.kind === 'failed' ? ['failed'] : [...new Set(wish.states)],
    statusCodes: wish.kind === 'filter' ? wish.statusCodes : undefined,
    startedUtc,
  };
};

/** The filter as it is stored and shown. */
export const filterOf = ({ since, until, types, states, statusCodes }: Selection): string =>
  JSON.stringify({
    ...(since.getTime() > 0 && { since }),
    until,
    types,
    ...(states && { states }),
    statusCodes,
  });

/** The selection of a running replay. */
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
    startedUtc: row.created_utc,
  };
};

interface StoredFilter {
  readonly since?: string;
  readonly until: string;
  readonly types?: readonly EventType[];
  readonly states?: readonly DeliveryState[];
  readonly statusCodes?: readonly number[];
}
