import type { KeyOperationId } from './operations.ts';

/**
 * The method of the client, and the tool for agents (`leads_create`), of each operation. Both names are permanent:
 * programs and prompts contain them (contract, "Versioning").
 */
export const methodNames = {
  getMe: 'me.get',
  listEmployees: 'lookups.employees',
  listAffiliates: 'lookups.affiliates',
  listClientStatuses: 'lookups.clientStatuses',
  searchClients: 'lookups.clients',
  listPeople: 'people.list',
  getPerson: 'people.get',
  updatePerson: 'people.update',
  updatePersonByExternalId: 'people.updateByExternalId',
  erasePerson: 'people.erase',
  createLead: 'leads.create',
  getLead: 'leads.get',
  findLeads: 'leads.find',
  updateLead: 'leads.update',
  updateLeadStatus: 'leads.updateStatus',
  batchLeads: 'leads.batch',
  createClient: 'clients.create',
  getClient: 'clients.get',
  findClients: 'clients.find',
  updateClient: 'clients.update',
  updateClientStatus: 'clients.updateStatus',
  batchClients: 'clients.batch',
  addClientNote: 'notes.create',
  listNotes: 'notes.list',
  batchNotes: 'notes.batch',
  createAffiliate: 'affiliates.create',
  getAffiliate: 'affiliates.get',
  listAllAffiliates: 'affiliates.list',
  updateAffiliate: 'affiliates.update',
  batchAffiliates: 'affiliates.batch',
  listChanges: 'changes.list',
  listEvents: 'events.list',
  getEvent: 'events.get',
  listSampleEvents: 'events.samples',
  createTestEvent: 'events.createTest',
  createSubscription: 'subscriptions.create',
  listSubscriptions: 'subscriptions.list',
  getSubscription: 'subscriptions.get',
  updateSubscription: 'subscriptions.update',
  deleteSubscription: 'subscriptions.delete',
  rotateSubscriptionSecret: 'subscriptions.rotateSecret',
  testSubscription: 'subscriptions.test',
  releaseHeldDeliveries: 'subscriptions.releaseHeld',
  discardHeldDeliveries: 'subscriptions.discardHeld',
  listSubscriptionDeliveries: 'subscriptions.listDeliveries',
  listMissingEvents: 'subscriptions.listMissing',
  createSubscriptionReplay: 'replays.create',
  getSubscriptionReplay: 'replays.get',
  listIncidents: 'incidents.list',
  getIncident: 'incidents.get',
} as const satisfies Record<KeyOperationId, `${string}.${string}`>;

/** `subscriptions.rotateSecret` → `subscriptions_rotate_secret`. */
export const toolNameOf = (method: string): string =>
  method.replace('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
