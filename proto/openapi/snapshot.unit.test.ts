import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from './document.ts';
import { breakingChanges, type Snapshot, snapshotOf, snapshotText } from './snapshot.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document.
type Any = any;

const text = readFileSync(new URL('./snapshot.generated.json', import.meta.url), 'utf8');
const promised = JSON.parse(text) as Snapshot;
const current = openApiDocument();

/** What is named if the document changes like this. */
const changesAfter = (change: (document: Any) => void): readonly string[] => {
  const document = structuredClone(current);
  change(document);
  return breakingChanges(snapshotOf(current), snapshotOf(document));
};

test('nothing that clients rely on has been taken away', () => {
  expect(breakingChanges(promised, snapshotOf(current))).toEqual([]);
});

test('the snapshot has what was added (if not: npm run openapi -- --snapshot)', () => {
  expect(`${snapshotText(snapshotOf(current))}\n`).toBe(text);
});

const events = '/api/v1/events';
const leads = '/api/v1/integrations/leads';
const schemaOf = (document: Any, name: string) => document.components.schemas[name];
const propertyOf = (document: Any, name: string, field: string) => schemaOf(document, name).properties[field];
const parameterOf = (document: Any, name: string) =>
  document.paths[events].get.parameters.find((one: Any) => one.name === name);

describe('A change that breaks clients is named:', () => {
  test.each<[string, string, (document: Any) => void]>([
    [
      'a removed path',
      `GET ${events}/{id}: the path was removed`,
      ({ paths }) => delete paths[`${events}/{id}`],
    ],
    [
      'a removed operation',
      'GET /api/v1/webhooks/subscriptions: the operation was removed',
      ({ paths }) => delete paths['/api/v1/webhooks/subscriptions'].get,
    ],
    [
      'a new name of an operation',
      `POST ${leads}: operationId changed from createLead to addLead`,
      ({ paths }) => (paths[leads].post.operationId = 'addLead'),
    ],
    [
      'another scope',
      `GET ${events}: scope changed from events:read to admin`,
      ({ paths }) => (paths[events].get['x-scope'] = 'admin'),
    ],
    [
      'another bucket',
      `GET ${events}: bucket changed from read to write`,
      ({ paths }) => (paths[events].get['x-bucket'] = 'write'),
    ],
    [
      'a field removed from one of several kinds of records',
      'GET /api/v1/integrations/changes 200.changes[].record.note_type: the field was removed',
      (document) => {
        delete document.components.schemas.NoteRecord.properties.note_type;
      },
    ],
    [
      'a removed parameter',
      `GET ${events}: the parameter type was removed`,
      ({ paths }) => {
        const { get } = paths[events];
        get.parameters = get.parameters.filter((one: Any) => one.name !== 'type');
      },
    ],
    [
      'a new required parameter',
      `GET ${events}: since is now required`,
      ({ paths }) =>
        paths[events].get.parameters.push({ name: 'since', in: 'query', required: true, schema: {} }),
    ],
    [
      'a parameter that becomes required',
      `GET ${events}: limit is now required`,
      (document) => (parameterOf(document, 'limit').required = true),
    ],
    [
      'a lower limit of a parameter',
      `GET ${events} limit: maximum was lowered to 50`,
      (document) => (parameterOf(document, 'limit').schema.maximum = 50),
    ],
    [
      'a removed value of a parameter',
      `GET ${events} order: the value desc was removed`,
      (document) => (parameterOf(document, 'order').schema.enum = ['asc']),
    ],
    [
      'another pattern of a parameter',
      `GET ${events} cursor: pattern changed to "^[a-z]$"`,
      (document) => (parameterOf(document, 'cursor').schema.pattern = '^[a-z]$'),
    ],
    [
      'a body that becomes required',
      'POST /api/v1/webhooks/subscriptions/{id}/rotate-secret: body is now required',
      ({ paths }) =>
        (paths['/api/v1/webhooks/subscriptions/{id}/rotate-secret'].post.requestBody.required = true),
    ],
    [
      'a new required field',
      `POST ${leads} body.salutation: is now required`,
      (document) => {
        schemaOf(document, 'CreateLeadRequest').properties.salutation = { type: 'string' };
        schemaOf(document, 'CreateLeadRequest').required.push('salutation');
      },
    ],
    [
      'a field that becomes required',
      `POST ${leads} body.zip: is now required`,
      (document) => schemaOf(document, 'CreateLeadRequest').required.push('zip'),
    ],
    [
      'a removed field of a request',
      `POST ${leads} body.zip: the field was removed`,
      (document) => delete schemaOf(document, 'CreateLeadRequest').properties.zip,
    ],
    [
      'a shorter field',
      `POST ${leads} body.first_name: maxLength was lowered to 50`,
      (document) => (propertyOf(document, 'CreateLeadRequest', 'first_name').maxLength = 50),
    ],
    [
      'a field that must be longer',
      `POST ${leads} body.first_name: minLength was raised to 2`,
      (document) => (propertyOf(document, 'CreateLeadRequest', 'first_name').minLength = 2),
    ],
    [
      'a new bound',
      'POST /api/v1/webhooks/subscriptions body.eventTypes: maxItems was lowered to 3',
      (document) => (propertyOf(document, 'CreateSubscriptionRequest', 'eventTypes').maxItems = 3),
    ],
    [
      'a request that no longer takes null',
      `POST ${leads} body.zip: null is no longer taken`,
      (document) =>
        (schemaOf(document, 'CreateLeadRequest').properties.zip = { type: 'string', maxLength: 16 }),
    ],
    [
      'a narrower shared type',
      'POST /api/v1/integrations/clients body.status: string is no longer taken',
      (document) => (document.components.schemas.StatusRef = { type: 'integer' }),
    ],
    [
      'a request that becomes closed to other fields',
      'POST /api/v1/events/test body.payload: additionalProperties changed to false',
      (document) => (propertyOf(document, 'CreateTestEventRequest', 'payload').additionalProperties = false),
    ],
    [
      'a removed status',
      `GET ${events}: the answer 410 was removed`,
      ({ paths }) => delete paths[events].get.responses['410'],
    ],
    [
      'another status of success',
      `POST ${leads}: the answer 201 was removed`,
      ({ paths }) => {
        const { responses } = paths[leads].post;
        responses['202'] = responses['201'];
        delete responses['201'];
      },
    ],
    [
      'a removed field of an answer',
      `GET ${events} 200.hasMore: the field was removed`,
      (document) => delete schemaOf(document, 'ListEventsAnswer').properties.hasMore,
    ],
    [
      'a field of an answer that may be absent',
      `GET ${events} 200.hasMore: may now be absent`,
      (document) => (schemaOf(document, 'ListEventsAnswer').required = ['events', 'nextCursor']),
    ],
    [
      'an answer of another type',
      `GET ${events} 200.events[].id: may now be string`,
      (document) => (schemaOf(document, 'WebhookEvent').properties.id = { type: 'string' }),
    ],
    [
      'a field of an answer that may be null',
      `POST ${leads} 201.status: may now be null`,
      (document) => (schemaOf(document, 'PersonCreated').properties.status = { type: ['string', 'null'] }),
    ],
    [
      'another format in an answer',
      `POST ${leads} 201.created_utc: the format changed from date-time to date`,
      (document) => (propertyOf(document, 'PersonCreated', 'created_utc').format = 'date'),
    ],
    [
      'a changed error code of a lookup',
      'GET /api/v1/integrations/lookups/employees 400.error_code: the value invalid_request was removed',
      (document) => {
        const code = propertyOf(document, 'LookupError', 'error_code');
        code.enum = code.enum.map((one: string) => (one === 'invalid_request' ? 'bad_request' : one));
      },
    ],
    [
      'a changed reason',
      `GET ${events} 410: the error code cursor_expired was removed`,
      ({ paths }) => {
        const { examples } = paths[events].get.responses['410'].content['application/json'];
        examples.operation.value.reason = 'cursor_gone';
      },
    ],
    [
      'a changed reason that all operations share',
      `GET ${events} 503: the error code lock_timeout was removed`,
      ({ components }) => {
        delete components.responses.Unavailable.content['application/json'].examples.lock_timeout;
      },
    ],
    [
      'a removed event type',
      'lead.created: the event type was removed',
      ({ webhooks }) => delete webhooks['lead.created'],
    ],
    [
      'a removed field of a payload',
      'delivery of lead.created.payload.email: the field was removed',
      (document) => {
        delete schemaOf(document, 'LeadCreatedPayload').properties.email;
        delete propertyOf(document, 'LeadCreatedEvent', 'payload').properties?.email;
      },
    ],
    [
      'a removed header of a delivery',
      'delivery of lead.created: the header X-Webhook-Id was removed',
      ({ webhooks }) => {
        const { post } = webhooks['lead.created'];
        post.parameters = post.parameters.filter((one: Any) => one.name !== 'X-Webhook-Id');
      },
    ],
  ])('%s', (_, named, change) => {
    expect(changesAfter(change)).toContain(named);
  });
});

test('Additions and wider rules break nothing', () => {
  const changes = changesAfter((document) => {
    const { paths, webhooks } = document;
    paths['/api/v1/extra'] = { get: { ...paths[events].get, operationId: 'extra' } };
    paths[events].put = { ...paths[events].get, operationId: 'put' };
    paths[events].get.parameters.push({ name: 'since', in: 'query', schema: { type: 'string' } });
    paths[events].get.responses['418'] = paths[events].get.responses['410'];
    parameterOf(document, 'limit').schema.maximum = 1000;
    parameterOf(document, 'order').schema.enum.push('random');
    delete parameterOf(document, 'cursor').schema.pattern;
    propertyOf(document, 'ListEventsAnswer', 'events').maxItems = 1000;
    const lead = schemaOf(document, 'CreateLeadRequest');
    lead.properties.salutation = { type: 'string' };
    lead.properties.first_name.maxLength = 500;
    lead.required = lead.required.filter((name: string) => name !== 'email');
    schemaOf(document, 'ListEventsAnswer').properties.total = { type: 'integer' };
    schemaOf(document, 'PersonCreated').properties.version = { type: 'integer' };
    schemaOf(document, 'PersonCreated').required.push('version');
    propertyOf(document, 'LookupError', 'error_code').enum.push('teapot');
    schemaOf(document, 'EventType').enum.push('lead.updated');
    webhooks['lead.updated'] = webhooks['lead.created'];
    webhooks['lead.created'].post.parameters.push({ name: 'X-Webhook-Origin', required: true });
  });
  expect(changes).toEqual([]);
});
