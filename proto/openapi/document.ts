import { basePath, type Operation } from '../operation.ts';
import { operations } from '../operations.ts';
import { description, tags } from './description.ts';
import { errorAnswers, sharedAnswers } from './error-answers.ts';
import { errorSchemas } from './error-schemas.ts';
import { headers, onCounted } from './headers.ts';
import { type Json, jsonSchema } from './json-schema.ts';

/** The interface as an OpenAPI 3.1 document, made from the same table that serves it. */
export const openApiDocument = (): Json => {
  const schemas: Json = { ...errorSchemas };
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = basePath + operation.path;
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Causeway integration interface', version: '1.0.0', description },
    servers: [{ url: '/' }],
    security: [{ ApiKey: [] }],
    tags,
    paths,
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: '`<prefix>_<company id>_<secret>`, shown once when the key is made.',
        },
      },
      headers,
      responses: sharedAnswers(),
      schemas,
    },
  };
};

const describe = (operation: Operation, schemas: Json): Json => {
  const { id, tag, summary, scope, bucket, deadlineMs, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${operation.description ? `${operation.description}\n\n` : ''}Needs the scope \`${scope}\`. ${countedAs(bucket)}`,
    'x-scope': scope,
    'x-bucket': bucket,
    'x-deadline-ms': deadlineMs,
    ...parametersOf(operation),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: {
          'application/json': {
            schema: named(schemas, `${pascal(id)}Request`, body),
            example: operation.bodyExample,
          },
        },
      },
    }),
    responses: { ...successes(operation, schemas), ...errorAnswers(operation) },
  };
};

const countedAs = (bucket: Operation['bucket']): string =>
  bucket === 'lookup'
    ? 'Counted in the bucket read, unless lookups have a bucket of their own.'
    : `Counted in the bucket ${bucket}.`;

const successes = (operation: Operation, schemas: Json): Json => {
  const entries = Object.entries(operation.answers).map(
    ([status, { description: text, schema, example }]) => {
      const content = schema && {
        'application/json': { schema: named(schemas, `${pascal(operation.id)}Answer`, schema), example },
      };
      return [status, { description: text, headers: onCounted, ...(content && { content }) }];
    },
  );
  return Object.fromEntries(entries);
};

const parametersOf = ({ params, query }: Operation): Json => {
  const inPath = Object.entries(params).map(([name, text]) => ({
    name,
    in: 'path',
    required: true,
    description: `${text} Anything but a positive integer is a 404.`,
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  }));
  const { properties = {}, required = [] } = (query ? jsonSchema(query) : {}) as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  const inQuery = Object.entries(properties).map(([name, { description: text, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(text !== undefined && { description: text }),
    schema,
  }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length > 0 ? { parameters } : {};
};

/** Puts a schema under `components.schemas`, so that generated clients get a type with a name. */
const named = (schemas: Json, name: string, schema: Parameters<typeof jsonSchema>[0]): Json => {
  schemas[name] = jsonSchema(schema);
  return { $ref: `#/components/schemas/${name}` };
};

const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);
