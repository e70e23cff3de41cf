export { listAffiliates } from './listAffiliates.ts';
export { listClientStatuses } from './listClientStatuses.ts';
export { listEmployees } from './listEmployees.ts';
export { searchClients } from './searchClients.ts';
