import { operationQuery } from '../../api/query.ts';

/** Matches every page of the list, for invalidation. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keySorts = ['newest', 'used', 'unused'] as const;

/** Beside the active keys. `limited`: those that reached a rate limit in the last hour. */
export const keyViews = ['revoked', 'limited'] as const;

export interface KeySearch {
  readonly show?: (typeof keyViews)[number] | undefined;
  readonly q?: string | undefined;
  readonly sort?: (typeof keySorts)[number] | undefined;
  readonly cursor?: string | undefined;
}

/** @param ids lists only these keys. */
export const keysPageQuery = ({ show, q, sort, cursor }: KeySearch, ids?: readonly number[]) => {
  const state = show === 'revoked' ? 'revoked' : 'active';
  return operationQuery('listApiKeys', { query: { limit: 25, state, ids: ids?.join(), q, sort, cursor } });
};
