import { operationQuery } from '../../api/query.ts';

export const eventQuery = (id: number) => operationQuery('getPortalEvent', { params: { id } });
