import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { laneOf } from './operation.ts';
import {
  contract,
  keyOperations,
  memberOperations,
  operationById,
  operatorOperations,
} from './operations.ts';
import * as operator from './operator.ts';

/** Copied from the tables of the contract, to compare with the table of operations. */
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
  const table = keyOperations.map(({ id, method, path, service, scope, bucket }) => [
    id,
    `${method} ${path} ${service} ${scope} ${bucket}`,
  ]);
  expect(Object.fromEntries(table)).toEqual(expected);
});

test('every name in the contract is the id of its operation', () => {
  for (const [name, { id }] of Object.entries(contract)) expect(id).toBe(name);
  expect(operationById.size).toBe(Object.keys(contract).length);
});

test('each operation has one audience, and no two modules export one id', async () => {
  const ids = [...keyOperations, ...memberOperations, ...operatorOperations].map(({ id }) => id);
  expect(ids.toSorted()).toEqual(Object.keys(contract).toSorted());
  const modules: object[] = await Promise.all(
    ['./operations/', './portal/']
      .flatMap((folder) => readdirSync(new URL(folder, import.meta.url)).map((file) => folder + file))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => import(file)),
  );
  const exported = [...modules, operator].flatMap((module) =>
    Object.entries(module).flatMap(([name, value]) => (value?.audience && value.id ? [name] : [])),
  );
  expect(exported.toSorted()).toEqual(ids.toSorted());
});

test('an operation uses the lane of its service, unless it is for operators', () => {
  const { createLead, listAudit, listEvents, createKey, reencryptSecrets } = contract;
  const lanes = [createLead, listAudit, listEvents, createKey, reencryptSecrets].map(laneOf);
  expect(lanes).toEqual(['crm', 'access', 'webhooks', 'operator', 'operator-webhooks']);
});

test('only the lookups have the lookup bucket and the lookup error shape', () => {
  for (const { path, bucket, errorShape } of keyOperations) {
    const lookup = path.startsWith('/integrations/lookups/');
    expect(bucket === 'lookup').toBe(lookup);
    expect(errorShape).toBe(lookup ? 'lookup' : 'general');
  }
});

test('operations that may wait for a receiver have 15 seconds, all others 5', () => {
  for (const { id, deadlineMs } of keyOperations)
    expect(deadlineMs).toBe(['testSubscription', 'updateSubscription'].includes(id) ? 15_000 : 5000);
});

const overHttp = [...keyOperations, ...memberOperations];

test('no two operations share a method and a path', () => {
  const shapes = overHttp.map(
    ({ audience, method, path }) => `${audience} ${method} ${path.replace(/\{\w+\}/g, '{}')}`,
  );
  expect(new Set(shapes).size).toBe(shapes.length);
});

describe.each(memberOperations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (_, operation) => {
    test('has a body in each answer but 204, and reads without a body', () => {
      for (const [status, { schema }] of Object.entries(operation.answers))
        expect(schema === null).toBe(status === '204');
      if (operation.method === 'GET') expect(operation.body).toBeNull();
    });
  },
);
