import { operationQuery } from '../../api/query.ts';

/** Matches every page of the list, for invalidation. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keySorts = ['newest', 'used', 'unused'] as const;

export interface KeySearch {
  readonly show?: 'revoked' | undefined;
  readonly q?: string | undefined;
  readonly sort?: (typeof keySorts)[number] | undefined;
  readonly cursor?: string | undefined;
}

export const keysPageQuery = ({ show, q, sort, cursor }: KeySearch) =>
  operationQuery('listApiKeys', { query: { limit: 25, state: show ?? 'active', q, sort, cursor } });
