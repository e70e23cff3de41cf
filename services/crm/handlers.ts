import type { HandlerTable } from '@causeway/runtime';
import { createAffiliate, updateAffiliate } from './actions/affiliates.ts';
import { batchAffiliates, batchClients, batchLeads, batchNotes } from './actions/batches.ts';
import { updateClientStatus, updateLeadStatus } from './actions/change-status.ts';
import { erasePerson } from './actions/erase.ts';
import { addClientNote } from './actions/notes.ts';
import { createClient, createLead, updateClient, updateLead } from './actions/people.ts';
import { listChanges } from './changes.ts';
import type { ActionsContext } from './context.ts';
import { findClients, findLeads } from './find.ts';
import { listAffiliates, listClientStatuses, listEmployees } from './lookups.ts';
import { getPortalPerson, listPortalPeople } from './portal-people.ts';
import {
  getAffiliate,
  getClient,
  getLead,
  getPerson,
  listAllAffiliates,
  listNotes,
  listPeople,
} from './read-records.ts';
import { searchClients } from './search/search-clients.ts';

export const handlers: HandlerTable<'crm', ActionsContext> = {
  listEmployees,
  listAffiliates,
  listClientStatuses,
  searchClients,
  findLeads,
  findClients,
  listPeople,
  listPortalPeople,
  getPortalPerson,
  getPerson,
  getLead,
  getClient,
  listNotes,
  listAllAffiliates,
  getAffiliate,
  listChanges,
  createLead,
  createClient,
  updateLead,
  updateClient,
  updateLeadStatus,
  updateClientStatus,
  addClientNote,
  createAffiliate,
  updateAffiliate,
  erasePerson,
  batchLeads,
  batchClients,
  batchAffiliates,
  batchNotes,
};
