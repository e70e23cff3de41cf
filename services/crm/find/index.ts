export { findClients } from './find-clients.ts';
export { findLeads } from './find-leads.ts';
