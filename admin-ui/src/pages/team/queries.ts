import { operationQuery } from '../../api/query.ts';

export const teamQuery = operationQuery('listTeam', {});
