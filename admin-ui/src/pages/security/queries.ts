import { operationQuery } from '../../api/query.ts';

export const sessionsQuery = operationQuery('listSessions', {});
