import { detailCodes, type MemberOperation, memberOperations, portalBasePath } from '@causeway/proto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { Json } from '../api/support/world.ts';

/** One operation, as a reader of its description alone knows it. */
export interface Endpoint {
  readonly id: string;
  readonly method: string;
  /** From the root, with parameters in braces. */
  readonly path: string;
  /** Schemas of the query's parameters. */
  readonly query: Readonly<Record<string, Json>>;
  /** Schema and example of the body; null where none is taken. */
  readonly body: { readonly schema: Json; readonly example: Json } | null;
  /** Whether a body follows the schema. */
  readonly allows: (body: unknown) => boolean;
  readonly scope: string | undefined;
  /** Whether it is for those alone who are known. */
  readonly isGuarded: boolean;
  readonly answers: ReadonlyMap<number, Answer>;
}

/** An answer that is described. */
export interface Answer {
  /** Names of the headers that it always has, lower case. */
  readonly headers: readonly string[];
  /** What is wrong with a body; undefined where nothing is. Null: there is no body. */
  readonly problemOf: ((body: unknown) => string | undefined) | null;
}

const ajvFor = (): Ajv2020 => {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
  // Loose, as a reader of the document would take them: for bodies that are sent.
  ajv.addFormat('email', /^\s*[^\s@]+@[^\s@]+\.[^\s@]+\s*$/);
  ajv.addFormat('uri', /^https?:\/\/[^\s]+$/i);
  return ajv;
};

/**
 * A schema with nothing but what it names: readers must bear fields of tomorrow, but today's answers have no field
 * that is not described.
 */
const closed = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries<Json>(schema).map(([name, value]) => [name, name === 'enum' ? value : closed(value)]),
  );
  return schema.properties && !('additionalProperties' in schema)
    ? { ...inner, additionalProperties: false }
    : inner;
};

/** The operations of the OpenAPI document, from it alone. */
export const readEndpoints = (document: Json): readonly Endpoint[] => {
  const ajv = ajvFor();
  ajv.addSchema({ ...document, components: closed(document.components) }, 'document');
  const resolve = (node: Json): Json =>
    node?.$ref
      ? node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, part: string) => at[part], document)
      : node;
  /** The schema without references, for who makes values of it. */
  const expanded = (node: Json): Json => {
    if (Array.isArray(node)) return node.map(expanded);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...beside } = node;
    const whole = $ref ? { ...resolve(node), ...beside } : beside;
    return Object.fromEntries(Object.entries<Json>(whole).map(([name, inner]) => [name, expanded(inner)]));
  };
  const compiled = (schema: Json) =>
    schema.$ref ? ajv.getSchema(`document${schema.$ref}`)! : ajv.compile(schema);
  const answerOf = (response: Json): Answer => {
    const { headers = {}, content } = resolve(response);
    const names = Object.entries<Json>(headers)
      .filter(([, header]) => resolve(header).required)
      .map(([name]) => name.toLowerCase());
    if (!content) return { headers: names, problemOf: null };
    const validate = compiled(content['application/json'].schema);
    const problemOf = (body: unknown) => (validate(body) ? undefined : ajv.errorsText(validate.errors));
    return { headers: names, problemOf };
  };
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]): Endpoint => {
      const content = operation.requestBody?.content['application/json'];
      const allows = content && compiled(content.schema);
      const inQuery = (operation.parameters ?? []).filter((one: Json) => one.in === 'query');
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        query: Object.fromEntries(
          inQuery.map(({ name, schema }: Json) => [
            name,
            expanded(name === 'wait' ? shortWait(schema) : schema),
          ]),
        ),
        body: content ? { schema: expanded(content.schema), example: content.example } : null,
        allows: (body) => allows === undefined || allows(body) === true,
        scope: operation['x-scope'],
        isGuarded: true,
        answers: new Map(
          Object.entries<Json>(operation.responses).map(([status, one]) => [Number(status), answerOf(one)]),
        ),
      };
    }),
  );
};

/** Requests that wait would hold up the run. */
const shortWait = (schema: Json): Json => ({ ...schema, maximum: 1 });

/** The portal has no document; its table of operations says the same. */
export const readPortal = (): readonly Endpoint[] => {
  const ajv = ajvFor();
  const schemaOf = (schema: z.ZodType): Json =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const error = ajv.compile({
    type: 'object',
    properties: {
      error: { type: 'string', minLength: 1 },
      reason: { type: 'string' },
      details: {
        items: {
          properties: { code: { enum: Object.keys(detailCodes) } },
          required: ['field', 'code', 'message'],
        },
      },
    },
    required: ['error'],
  });
  const isError = (body: unknown) => (error(body) ? undefined : ajv.errorsText(error.errors));
  return memberOperations.map((operation: MemberOperation): Endpoint => {
    const { id, method, path, query, body, answers, errors } = operation;
    const own = Object.entries(answers).map(([status, { schema }]): [number, Answer] => {
      if (!schema) return [Number(status), { headers: [], problemOf: null }];
      const validate = ajv.compile(closed(schemaOf(schema)));
      return [
        Number(status),
        {
          headers: [],
          problemOf: (given) => (validate(given) ? undefined : ajv.errorsText(validate.errors)),
        },
      ];
    });
    const refusals = [...sharedByPortal, ...errors];
    const allows = body ? ajv.compile(schemaOf(body)) : undefined;
    return {
      id,
      method,
      path: portalBasePath + path,
      query: query ? (schemaOf(query).properties ?? {}) : {},
      body: body ? { schema: schemaOf(body), example: undefined } : null,
      allows: (given) => allows === undefined || allows(given) === true,
      scope: undefined,
      isGuarded: operation.role !== null,
      answers: new Map([
        ...own,
        ...refusals.map((status): [number, Answer] => [
          status,
          { headers: ['x-request-id'], problemOf: isError },
        ]),
      ]),
    };
  });
};

/** What every operation of the portal may answer (`proto/errors.ts`), besides its own. */
const sharedByPortal = [400, 401, 403, 404, 405, 413, 415, 429, 503, 504];
