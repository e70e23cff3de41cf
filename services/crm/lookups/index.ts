export { listAffiliates } from './list-affiliates.ts';
export { listClientStatuses } from './list-client-statuses.ts';
export { listEmployees } from './list-employees.ts';
export { searchClients } from './search-clients.ts';
