import { operationQuery } from '../../api/query.ts';

/** All pages of the list, to be read anew after a change. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keysPageQuery = ({
  show,
  cursor,
}: {
  show?: 'revoked' | undefined;
  cursor?: string | undefined;
}) => operationQuery('listApiKeys', { query: { state: show ?? 'active', cursor } });
