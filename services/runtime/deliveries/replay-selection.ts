import type { DeliveryState, EventType, ReplayRow } from '@causeway/proto';

/** Which events a replay delivers; fixed when it starts. */
export interface ReplaySelection {
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

/** The filter as it is stored and shown. */
export const replayFilterOf = ({ since, until, types, states, statusCodes }: ReplaySelection): string =>
  JSON.stringify({
    ...(since.getTime() > 0 && { since }),
    until,
    types,
    ...(states && { states }),
    statusCodes,
  });

/** The selection of a running replay. */
export const replaySelectionOf = (row: ReplayRow): ReplaySelection => {
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
