import { expect, test } from 'vitest';
import { contract, operationById, operations } from './operations.ts';
import { operatorContract, operatorWebhooksContract } from './operator.ts';

/** Written out from the contract's tables, to be compared with what the table of operations says. */
const expected: Readonly<Record<string, string>> = {
  listEmployees: 'GET /integrations/lookups/employees crm integrations:read lookup',
  listAffiliates: 'GET /integrations/lookups/affiliates crm integrations:read lookup',
  listClientStatuses: 'GET /integrations/lookups/client-statuses crm integrations:read lookup',
  searchClients: 'GET /integrations/lookups/clients crm integrations:read lookup',
  findClients: 'GET /integrations/clients/find crm integrations:read read',
  findLeads: 'GET /integrations/leads/find crm integrations:read read',
  createLead: 'POST /integrations/leads crm integrations:write write',
  updateLead: 'PATCH /integrations/leads/{client_id} crm integrations:write write',
  updateLeadStatus: 'PATCH /integrations/leads/{client_id}/status crm integrations:write write',
  createClient: 'POST /integrations/clients crm integrations:write write',
  updateClient: 'PATCH /integrations/clients/{client_id} crm integrations:write write',
  updateClientStatus: 'PATCH /integrations/clients/{client_id}/status crm integrations:write write',
  addClientNote: 'POST /integrations/clients/{client_id}/notes crm integrations:write write',
  createAffiliate: 'POST /integrations/affiliates crm integrations:write write',
  updateAffiliate: 'PATCH /integrations/affiliates/{employee_id} crm integrations:write write',
  createSubscription: 'POST /webhooks/subscriptions webhooks webhooks:write admin',
  listSubscriptions: 'GET /webhooks/subscriptions webhooks webhooks:write read',
  getSubscription: 'GET /webhooks/subscriptions/{id} webhooks webhooks:write read',
  updateSubscription: 'PATCH /webhooks/subscriptions/{id} webhooks webhooks:write admin',
  rotateSubscriptionSecret: 'POST /webhooks/subscriptions/{id}/rotate-secret webhooks webhooks:write admin',
  releaseHeldDeliveries: 'POST /webhooks/subscriptions/{id}/held/release webhooks webhooks:write admin',
  discardHeldDeliveries: 'POST /webhooks/subscriptions/{id}/held/discard webhooks webhooks:write admin',
  deleteSubscription: 'DELETE /webhooks/subscriptions/{id} webhooks webhooks:write write',
  testSubscription: 'POST /webhooks/subscriptions/{id}/test webhooks admin admin',
  listEvents: 'GET /events webhooks events:read read',
  getEvent: 'GET /events/{id} webhooks events:read read',
  createTestEvent: 'POST /events/test webhooks admin admin',
};

test('the table has every operation with its route, service, scope and bucket', () => {
  const table = operations.map(({ id, method, path, service, scope, bucket }) => [
    id,
    `${method} ${path} ${service} ${scope} ${bucket}`,
  ]);
  expect(Object.fromEntries(table)).toEqual(expected);
});

test('every name in the contract is the id of its operation', () => {
  for (const [name, { id }] of Object.entries({
    ...contract,
    ...operatorContract,
    ...operatorWebhooksContract,
  }))
    expect(id).toBe(name);
  expect(operationById.size).toBe(operations.length);
});

test("the operator's operations and the interface's share no id", () => {
  for (const id of Object.keys({ ...operatorContract, ...operatorWebhooksContract }))
    expect(operationById.has(id)).toBe(false);
});

test('only the lookups have the lookup bucket and the lookup error shape', () => {
  for (const { path, bucket, errorShape } of operations) {
    const lookup = path.startsWith('/integrations/lookups/');
    expect(bucket === 'lookup').toBe(lookup);
    expect(errorShape).toBe(lookup ? 'lookup' : 'general');
  }
});

test('a test delivery has 15 seconds, everything else 5', () => {
  for (const { id, deadlineMs } of operations)
    expect(deadlineMs).toBe(id === 'testSubscription' ? 15_000 : 5000);
});
