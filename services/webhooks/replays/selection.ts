import type { BodyOf, contract, EventType } from '@causeway/proto';
import type { ReplaySelection } from '@causeway/runtime';

/** The request to replay. */
export type ReplayWish = BodyOf<(typeof contract)['createReplay']>;

export const selectionOf = (
  companyId: number,
  wish: ReplayWish,
  subscribedTypes: readonly EventType[],
  startedUtc: Date,
): ReplaySelection => {
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
