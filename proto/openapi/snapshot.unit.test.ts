import { expect, test } from 'vitest';
import { openApiDocument } from './document.ts';
import { brokenPromises, snapshotOf } from './snapshot.ts';

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document.
type Any = any;

const current = openApiDocument();
const events = '/api/v1/events';
const changes = '/api/v1/integrations/changes';

test.each<[string, readonly string[], (document: Any) => void]>([
  [
    'a removed field',
    ['schemas ListEventsAnswer properties hasMore: removed'],
    ({ components }) => delete components.schemas.ListEventsAnswer.properties.hasMore,
  ],
  [
    'a removed answer and error code',
    [
      `operations GET ${events} answers 410: removed`,
      `operations GET ${changes} answers 410 cursor_expired: removed`,
    ],
    ({ paths }) => {
      delete paths[events].get.responses['410'];
      paths[changes].get.responses['410'].content['application/json'].examples = {};
    },
  ],
  [
    'a field that is newly required, and a limit that is new',
    [
      'schemas CreateLeadRequest required zip: added',
      'schemas CreateLeadRequest properties email pattern: added',
    ],
    ({ components }) => {
      const { required, properties } = components.schemas.CreateLeadRequest;
      required.push('zip');
      properties.email.pattern = '^A';
    },
  ],
  [
    'no addition',
    [],
    ({ components: { schemas }, paths, webhooks }) => {
      paths['/api/v1/extra'] = { get: { ...paths[events].get, operationId: 'extra' } };
      paths['/api/v1/integrations/me'].get.parameters = [
        { name: 'since', in: 'query', schema: { type: 'string' } },
      ];
      paths[events].get.responses['418'] = paths[events].get.responses['410'];
      schemas.CreateLeadRequest.properties.salutation = { type: 'string' };
      schemas.PersonCreated.properties.revision = { type: 'integer' };
      schemas.PersonCreated.required.push('revision');
      schemas.TestSubscriptionAnswer.properties.error.anyOf[0].enum.push('teapot');
      schemas.WebhookEvent.oneOf.unshift({ $ref: '#/components/schemas/LeadUpdatedEvent' });
      webhooks['lead.updated'] = webhooks['lead.created'];
    },
  ],
])('names %s', (_, named, change) => {
  const document = structuredClone(current);
  change(document);
  const found = brokenPromises(snapshotOf(current), snapshotOf(document));
  expect(found.toSorted()).toEqual(named.toSorted());
});
