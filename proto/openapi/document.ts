import { idempotencyKeyPattern } from '../idempotency-key.ts';
import { basePath, type KeyOperation, takesIdempotencyKey } from '../operation.ts';
import { keyOperations } from '../operations.ts';
import { conditionsTaken } from '../versions.ts';
import { type Components, createComponents, type Json, pascal } from './components.ts';
import { errorAnswers, headers, sharedAnswers, successHeaders } from './error-answers.ts';
import { errorSchemas } from './error-schemas.ts';
import { deliveryCallback, webhooks } from './webhooks.ts';

export type { Json };

interface Options {
  readonly operations?: readonly KeyOperation[];
  /** Without them, the payload of an event is any object, as erased and test events are. */
  readonly withWebhooks?: boolean;
  /** Where the interface is reached: without a path, and without a slash at the end. */
  readonly server?: string | undefined;
}

export const openApiDocument = (options: Options = {}): Json => {
  const { operations = keyOperations, withWebhooks = true, server = '/' } = options;
  const components = createComponents(errorSchemas);
  const deliveries = withWebhooks && webhooks(components);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = basePath + operation.path;
    const described = describe(operation, components);
    if (withWebhooks && operation.id === 'createSubscription')
      described.callbacks = { delivery: deliveryCallback(components) };
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway integration interface',
      version: '1.0.0',
      description,
      contact: { name: 'The operator of this installation' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: server }],
    security: [{ ApiKey: [] }],
    tags,
    paths,
    ...(deliveries && { webhooks: deliveries }),
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: '`<prefix>_<company id>_<secret>`, shown once, when the key is created.',
        },
      },
      headers,
      parameters: { IdempotencyKey: idempotencyKey, ...conditions },
      responses: sharedAnswers(),
      schemas: components.schemas,
    },
  };
};

const describe = (operation: KeyOperation, components: Components): Json => {
  const { id, tag, summary, scope, bucket, deadlineMs, body, deprecation } = operation;
  return {
    operationId: operation.operationId ?? id,
    tags: [tag],
    summary,
    description: `${operation.description ? `${operation.description}\n\n` : ''}${scope ? `Needs the scope \`${scope}\`.` : 'Every valid key may call it.'} ${countedAs(bucket)}`,
    ...(deprecation && { deprecated: true, 'x-sunset': deprecation.sunsetUtc }),
    ...(scope && { 'x-scope': scope }),
    ...(bucket && { 'x-bucket': bucket }),
    'x-deadline-ms': deadlineMs,
    ...parametersOf(operation, components),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          'application/json': {
            schema: components.refer(`${pascal(id)}Request`, body),
            example: operation.bodyExample,
          },
        },
      },
    }),
    responses: { ...successes(operation, components), ...errorAnswers(operation) },
  };
};

const countedAs = (bucket: KeyOperation['bucket']): string =>
  bucket === 'lookup'
    ? 'Counted in the bucket read, unless lookups have a bucket of their own.'
    : bucket
      ? `Counted in the bucket ${bucket}.`
      : 'Not counted.';

const successes = (operation: KeyOperation, components: Components): Json => {
  const entries = Object.entries(operation.answers).map(
    ([status, { description: text, schema, example }]) => {
      const content = schema && {
        'application/json': { schema: components.refer(`${pascal(operation.id)}Answer`, schema), example },
      };
      return [status, { description: text, headers: successHeaders(operation), ...(content && { content }) }];
    },
  );
  if (operation.versioned && operation.method === 'GET')
    entries.push([
      '304',
      {
        description: 'The record still has a version that `If-None-Match` names.',
        headers: successHeaders(operation),
      },
    ]);
  return Object.fromEntries(entries);
};

const ofVersions = (operation: KeyOperation): readonly Json[] => {
  const { method, versioned } = operation;
  const names =
    method === 'GET'
      ? versioned
        ? ['IfNoneMatch']
        : []
      : conditionsTaken(operation).map((name) =>
          name === 'If-None-Match' ? 'IfAbsent' : method === 'POST' ? 'IfPresent' : 'IfMatch',
        );
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
};

const condition = (name: string, example: string, text: string): Json => ({
  name,
  in: 'header',
  required: false,
  description: text,
  schema: { type: 'string' },
  // Tools that fill in every parameter send a condition that always holds.
  example,
});

const conditions = {
  IfMatch: condition(
    'If-Match',
    '*',
    'The `ETag` of the record that was read, as `"2"`: if the record has another version by now, nothing is changed and the answer is 412.',
  ),
  IfNoneMatch: condition(
    'If-None-Match',
    '',
    'The `ETag` of the record as it is known: if it has not changed, the answer is 304 without a body.',
  ),
  IfAbsent: condition(
    'If-None-Match',
    '',
    '`*` to create only: if a record with the `external_id` exists, nothing is changed and the answer, or that of the item of a batch, is 412.',
  ),
  IfPresent: condition(
    'If-Match',
    '',
    '`*` to update only: if no record with the `external_id` exists, nothing is created and the answer is 412. Or the `ETag` of that record, as `"2"`: if it has another version by now, nothing is changed and the answer is 412.',
  ),
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request, so that it can be sent again safely: a random UUID, for example. Within 24 hours, the same request with the same key gets the first answer again, with `Idempotent-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: idempotencyKeyPattern.source },
  // Postman and Bruno put a new UUID in its place.
  example: '{{$guid}}',
};

/** Values of parameters that tools fill in. The records are of the company that `npm start` makes. */
const exampleValues: Readonly<Record<string, unknown>> = {
  client_id: 1040,
  employee_id: 16,
  id: 42,
  subscriptionId: 42,
  email: 'katherine@example.com',
  phone: '+1 555 010 4477',
  external_id: 'EXT-100001',
  cursor: '',
  type: 'client.created',
  since: '2026-01-15T00:00:00.000Z',
  updated_since: '2026-01-15T00:00:00.000Z',
};

/** Nobody has this ID, so that trying out the erasure erases nobody. */
const unassignedId = 9_000_000_000_001_042;

const exampleFor = ({ id, path }: KeyOperation, name: string, isList = false): Json => {
  const value =
    id === 'erasePerson'
      ? unassignedId
      : name === 'client_id' && path.includes('/leads/{')
        ? 1042
        : isList
          ? []
          : exampleValues[name];
  return value === undefined ? {} : { example: value };
};

/** Numbers and enumerations keep their type, for the sake of generated clients. */
const blankable = ({ minLength: _, ...schema }: Json): Json =>
  typeof schema.pattern === 'string' ? { ...schema, pattern: `${schema.pattern}|^\\s*$` } : schema;

const parametersOf = (operation: KeyOperation, components: Components): Json => {
  const { params, query } = operation;
  const inPath = Object.entries(params).map(([name, text]) => ({
    name,
    in: 'path',
    required: true,
    description: `${text} Anything but a positive integer gets 404.`,
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, format: 'int64' },
    ...exampleFor(operation, name),
  }));
  const { properties = {}, required = [] } = (query ? components.inline(query) : {}) as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  const inQuery = Object.entries(properties).map(([name, { description: text, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(text !== undefined && { description: text }),
    // A blank parameter counts as absent (contract, "Requests and errors").
    ...(required.includes(name) ? { schema } : { allowEmptyValue: true, schema: blankable(schema) }),
    ...exampleFor(operation, name, schema.type === 'array'),
  }));
  const inHead = takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  const parameters = [...inPath, ...inQuery, ...inHead, ...ofVersions(operation)];
  return parameters.length > 0 ? { parameters } : {};
};

const description = `
The integration interface of a multi-tenant CRM: lookups, record actions, webhook subscriptions and events.

**Keys.** Every request carries \`X-Api-Key\`. A key belongs to one company, and it can reach only that company: a record of another company is answered as if it did not exist. A key has one or more of five scopes: \`integrations:read\`, \`integrations:write\`, \`events:read\`, \`webhooks:write\` and \`admin\`. No scope implies another. Once a revocation is answered, the key is refused.

**Order of checks.** Authentication (401), route (404, 405), scope (403), rate limit (429, 503), parameters and body (400), record (404). A request that fails validation is counted; one that fails authentication or scope is not.

**Limits.** Requests are counted exactly, per key and bucket, in windows of one UTC minute. The default limits are 60 requests in the bucket read (lookups included), 100 in write and 200 in admin; the installation, the company or the key can have others. All keys of a company together have a ceiling in each bucket: by default twenty times the limit of one key. The 429 of a ceiling names it as \`company-read:1200/1m\`. Every answer to a counted request carries the five \`X-RateLimit-*\` headers, \`RateLimit-Policy\` and \`RateLimit\`. Over the limit, requests get 429 until the window ends. A request that cannot be counted is not carried out and gets 503 with the reason \`lock_timeout\`.

**Requests.** Bodies are JSON objects in UTF-8, at most 1 MiB, whatever the content type; a missing body counts as an empty object. Unknown fields and unknown or repeated query parameters are refused by name. Texts are trimmed; lengths count Unicode characters; values nest at most 64 levels. A blank optional text is the same as null. An update must send at least one field besides read-only ones; null clears an optional field and is refused for a required one. HEAD works where GET does. A path with a trailing slash gets 404.

**Errors.** Lookup endpoints answer \`{error_code, message}\`, all others \`{error}\`; a 400 lists everything that is wrong in \`details\`. Retry after 429 (when \`Retry-After\` has passed), after 503 (in 1-2 seconds), and after 504, network timeouts and lost connections. In these last cases the request may have been carried out, so retry with the same \`Idempotency-Key\` or \`external_id\`. Never retry an unchanged request after 400, 401, 403, 404 or 410.

**Idempotency.** A POST may carry an \`Idempotency-Key\`, at best a random UUID for each request. The same request with the same key gets the first answer again for 24 hours, with \`Idempotent-Replayed: true\`; a different request with that key gets 422, and one that comes while the first is still being carried out may get 409. A key is valid for the whole company. Requests that were refused are not remembered.

**external_id.** It is unique in a company among leads and clients, among affiliates, and among notes. If it exists already, a create applies the sent fields to the existing record and answers 200 instead of 201. Of concurrent creates with one \`external_id\`, exactly one answers 201, and all name the same record.

**Times** are ISO 8601 in UTC. **Versions.** This is version 1, as the path prefix says.
`.trim();

const tags: readonly Json[] = [
  { name: 'Keys', description: 'The API key that a request is sent with.' },
  { name: 'Lookups', description: 'Lists for dropdowns. They are a convenience: actions take plain IDs.' },
  { name: 'Search', description: 'Find records by their fields.' },
  { name: 'Records', description: 'Leads, clients, affiliates and notes, whole.' },
  { name: 'Changes', description: 'Every record at its latest change, to copy all and to follow.' },
  {
    name: 'Leads',
    description: 'A lead and a client are one record with one client_id; its status says which.',
  },
  { name: 'Clients', description: 'Clients, their statuses and notes.' },
  { name: 'Affiliates', description: 'An affiliate is an employee with the affiliate role.' },
  { name: 'Webhook subscriptions', description: 'The URLs that receive events.' },
  { name: 'Events', description: 'The event log.' },
  { name: 'Deliveries', description: 'What Causeway sends to the URLs of subscriptions.' },
];
