export { findClients } from './findClients.ts';
export { findLeads } from './findLeads.ts';
