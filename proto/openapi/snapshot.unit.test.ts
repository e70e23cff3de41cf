import { describe, expect, test } from 'vitest';
import { openApiDocument } from './document.ts';
import { breakingChanges, snapshotOf } from './snapshot.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document.
type Any = any;

const current = openApiDocument();

/** What is named if the document changes like this. */
const changesAfter = (change: (document: Any) => void): readonly string[] => {
  const document = structuredClone(current);
  change(document);
  return breakingChanges(snapshotOf(current), snapshotOf(document));
};

const events = '/api/v1/events';
const leads = '/api/v1/integrations/leads';
const schemaOf = (document: Any, name: string) => document.components.schemas[name];
const propertyOf = (document: Any, name: string, field: string) => schemaOf(document, name).properties[field];
const parameterOf = (document: Any, name: string) =>
  document.paths[events].get.parameters.find((one: Any) => one.name === name);

describe('A change that breaks clients is named:', () => {
  test.each<[string, (document: Any) => void]>([
    [
      'GET /api/v1/webhooks/subscriptions: the operation was removed',
      ({ paths }) => delete paths['/api/v1/webhooks/subscriptions'].get,
    ],
    [
      `GET ${events}: the parameter type was removed`,
      ({ paths }) => {
        const { get } = paths[events];
        get.parameters = get.parameters.filter((one: Any) => one.name !== 'type');
      },
    ],
    [
      `GET ${events} limit: maximum was lowered to 50`,
      (document) => (parameterOf(document, 'limit').schema.maximum = 50),
    ],
    [
      `POST ${leads} body.zip: is now required`,
      (document) => schemaOf(document, 'CreateLeadRequest').required.push('zip'),
    ],
    [
      `POST ${leads} body.zip: null is no longer taken`,
      (document) =>
        (schemaOf(document, 'CreateLeadRequest').properties.zip = { type: 'string', maxLength: 16 }),
    ],
    [`GET ${events}: the answer 410 was removed`, ({ paths }) => delete paths[events].get.responses['410']],
    [
      `GET ${events} 200.hasMore: the field was removed`,
      (document) => delete schemaOf(document, 'ListEventsAnswer').properties.hasMore,
    ],
    [
      `POST ${leads} 201.status: may now be null`,
      (document) => (schemaOf(document, 'PersonCreated').properties.status = { type: ['string', 'null'] }),
    ],
    [
      `GET ${events} 410: the error code cursor_expired was removed`,
      ({ paths }) => {
        const { examples } = paths[events].get.responses['410'].content['application/json'];
        examples.operation.value.reason = 'cursor_gone';
      },
    ],
    ['lead.created: the event type was removed', ({ webhooks }) => delete webhooks['lead.created']],
    [
      'delivery of lead.created: the header X-Webhook-Id was removed',
      ({ webhooks }) => {
        const { post } = webhooks['lead.created'];
        post.parameters = post.parameters.filter((one: Any) => one.name !== 'X-Webhook-Id');
      },
    ],
  ])('%s', (named, change) => {
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
    schemaOf(document, 'PersonCreated').properties.revision = { type: 'integer' };
    schemaOf(document, 'PersonCreated').required.push('revision');
    propertyOf(document, 'LookupError', 'error_code').enum.push('teapot');
    schemaOf(document, 'EventType').enum.push('lead.updated');
    webhooks['lead.updated'] = webhooks['lead.created'];
    webhooks['lead.created'].post.parameters.push({ name: 'X-Webhook-Origin', required: true });
  });
  expect(changes).toEqual([]);
});
