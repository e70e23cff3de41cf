// Written by `npm run generate`.
import type { Operation } from './options.ts';

export const operations: { readonly [resource: string]: { readonly [method: string]: Operation } } = {
  affiliates: {
    batch: { method: 'POST', path: '/integrations/affiliates/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/affiliates', takes: 'body' },
    get: { method: 'GET', path: '/integrations/affiliates/{employee_id}' },
    list: { method: 'GET', path: '/integrations/affiliates', takes: 'query', list: 'affiliates' },
    update: { method: 'PATCH', path: '/integrations/affiliates/{employee_id}', takes: 'body' },
  },
  changes: {
    list: { method: 'GET', path: '/integrations/changes', takes: 'query', list: 'changes' },
  },
  clients: {
    batch: { method: 'POST', path: '/integrations/clients/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/clients', takes: 'body' },
    find: { method: 'GET', path: '/integrations/clients/find', takes: 'query' },
    get: { method: 'GET', path: '/integrations/clients/{client_id}' },
    update: { method: 'PATCH', path: '/integrations/clients/{client_id}', takes: 'body' },
    updateStatus: { method: 'PATCH', path: '/integrations/clients/{client_id}/status', takes: 'body' },
  },
  events: {
    createTest: { method: 'POST', path: '/events/test', takes: 'body' },
    get: { method: 'GET', path: '/events/{id}' },
    list: { method: 'GET', path: '/events', takes: 'query', list: 'events' },
    samples: { method: 'GET', path: '/events/samples', takes: 'query' },
  },
  incidents: {
    get: { method: 'GET', path: '/webhooks/incidents/{id}' },
    list: { method: 'GET', path: '/webhooks/incidents', takes: 'query', list: 'incidents' },
  },
  leads: {
    batch: { method: 'POST', path: '/integrations/leads/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/leads', takes: 'body' },
    find: { method: 'GET', path: '/integrations/leads/find', takes: 'query' },
    get: { method: 'GET', path: '/integrations/leads/{client_id}' },
    update: { method: 'PATCH', path: '/integrations/leads/{client_id}', takes: 'body' },
    updateStatus: { method: 'PATCH', path: '/integrations/leads/{client_id}/status', takes: 'body' },
  },
  lookups: {
    affiliates: { method: 'GET', path: '/integrations/lookups/affiliates' },
    clientStatuses: { method: 'GET', path: '/integrations/lookups/client-statuses' },
    clients: { method: 'GET', path: '/integrations/lookups/clients', takes: 'query' },
    employees: { method: 'GET', path: '/integrations/lookups/employees' },
  },
  me: {
    get: { method: 'GET', path: '/integrations/me' },
  },
  notes: {
    batch: { method: 'POST', path: '/integrations/clients/notes/batch', takes: 'body' },
    create: { method: 'POST', path: '/integrations/clients/{client_id}/notes', takes: 'body' },
    list: { method: 'GET', path: '/integrations/clients/{client_id}/notes', takes: 'query', list: 'notes' },
  },
  people: {
    erase: { method: 'DELETE', path: '/integrations/people/{client_id}' },
    get: { method: 'GET', path: '/integrations/people/{client_id}' },
    list: { method: 'GET', path: '/integrations/people', takes: 'query', list: 'people' },
    update: { method: 'PATCH', path: '/integrations/people/{client_id}', takes: 'body' },
    updateByExternalId: { method: 'PATCH', path: '/integrations/people', takes: 'query and body' },
  },
  replays: {
    create: { method: 'POST', path: '/webhooks/subscriptions/{id}/replays', takes: 'body' },
    get: { method: 'GET', path: '/webhooks/replays/{id}' },
  },
  subscriptions: {
    create: { method: 'POST', path: '/webhooks/subscriptions', takes: 'body' },
    delete: { method: 'DELETE', path: '/webhooks/subscriptions/{id}' },
    discardHeld: { method: 'POST', path: '/webhooks/subscriptions/{id}/held/discard' },
    get: { method: 'GET', path: '/webhooks/subscriptions/{id}' },
    list: { method: 'GET', path: '/webhooks/subscriptions', takes: 'query', list: 'subscriptions' },
    listDeliveries: { method: 'GET', path: '/webhooks/subscriptions/{id}/deliveries', takes: 'query', list: 'deliveries' },
    listMissing: { method: 'GET', path: '/webhooks/subscriptions/{id}/missing', takes: 'query', list: 'missing' },
    releaseHeld: { method: 'POST', path: '/webhooks/subscriptions/{id}/held/release' },
    rotateSecret: { method: 'POST', path: '/webhooks/subscriptions/{id}/rotate-secret', takes: 'body' },
    test: { method: 'POST', path: '/webhooks/subscriptions/{id}/test', takes: 'body' },
    update: { method: 'PATCH', path: '/webhooks/subscriptions/{id}', takes: 'body' },
  },
};
