import { idempotencyKeyPattern } from '../idempotency-key.ts';
import { basePath, type KeyOperation, takesIdempotencyKey } from '../operation.ts';
import { keyOperations } from '../operations.ts';
import { type Components, createComponents, pascal } from './components.ts';
import { description, tags } from './description.ts';
import { errorAnswers, sharedAnswers } from './error-answers.ts';
import { errorSchemas } from './error-schemas.ts';
import { headers, onCounted, onReplayed } from './headers.ts';
import type { Json } from './json-schema.ts';
import { deliveryCallback, webhooks } from './webhooks.ts';

/** The interface as an OpenAPI 3.1 document, generated from the table of operations that serves it. */
export const openApiDocument = (): Json => {
  const components = createComponents(errorSchemas);
  const paths: Record<string, Json> = {};
  for (const operation of keyOperations) {
    const path = basePath + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway integration interface',
      version: '1.0.0',
      description,
      contact: { name: 'The operator of this installation' },
      license: { name: 'Proprietary' },
    },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }],
    tags,
    paths,
    webhooks: webhooks(components),
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
      parameters: { IdempotencyKey: idempotencyKey },
      responses: sharedAnswers(),
      schemas: components.schemas,
    },
  };
};

const describe = (operation: KeyOperation, components: Components): Json => {
  const { id, tag, summary, scope, bucket, deadlineMs, body } = operation;
  return {
    operationId: operation.operationId ?? id,
    tags: [tag],
    summary,
    description: `${operation.description ? `${operation.description}\n\n` : ''}Needs the scope \`${scope}\`. ${countedAs(bucket)}`,
    'x-scope': scope,
    'x-bucket': bucket,
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
    ...(id === 'createSubscription' && { callbacks: { delivery: deliveryCallback(components) } }),
  };
};

const countedAs = (bucket: KeyOperation['bucket']): string =>
  bucket === 'lookup'
    ? 'Counted in the bucket read, unless lookups have a bucket of their own.'
    : `Counted in the bucket ${bucket}.`;

const successes = (operation: KeyOperation, components: Components): Json => {
  const entries = Object.entries(operation.answers).map(
    ([status, { description: text, schema, example }]) => {
      const content = schema && {
        'application/json': { schema: components.refer(`${pascal(operation.id)}Answer`, schema), example },
      };
      const headersOf = takesIdempotencyKey(operation) ? onReplayed : onCounted;
      return [status, { description: text, headers: headersOf, ...(content && { content }) }];
    },
  );
  return Object.fromEntries(entries);
};

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names the request, so that it can be sent again safely: a random UUID, for example. Within 24 hours, the same request with the same key gets the first answer again, with `Idempotent-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: idempotencyKeyPattern.source },
};

/** Removes what forbids a blank text. Numbers and enumerations keep their type, for the sake of generated clients. */
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
  }));
  const { properties = {}, required = [] } = (query ? components.inline(query) : {}) as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  const inQuery = Object.entries(properties).map(([name, { description: text, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    // A blank parameter counts as absent (contract, "Requests and errors").
    allowEmptyValue: true,
    ...(text !== undefined && { description: text }),
    schema: blankable(schema),
  }));
  const inHead = takesIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  const parameters = [...inPath, ...inQuery, ...inHead];
  return parameters.length > 0 ? { parameters } : {};
};
