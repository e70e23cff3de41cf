import { operationQuery } from '../../api/query.ts';

/** Matches every page of the list, for invalidation. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keysPageQuery = ({
  show,
  cursor,
}: {
  show?: 'revoked' | undefined;
  cursor?: string | undefined;
}) => operationQuery('listApiKeys', { query: { state: show ?? 'active', cursor } });
