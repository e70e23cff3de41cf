import {
  basePath,
  type KeyOperation,
  keyOperations,
  paramsIn,
  type Scope,
  takesIdempotencyKey,
} from '@causeway/proto';
import { methodNames, toolNameOf } from '@causeway/proto/method-names';
import { openApiDocument } from '@causeway/proto/openapi';
import { fieldMeanings } from '@causeway/proto/schemas';

/** A tool for agents: one operation of an API key, under a permanent name. */
export interface AgentTool {
  readonly scope: Scope;
  readonly operation: KeyOperation;
  /** As the protocol lists it. */
  readonly listed: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: ObjectSchema;
    readonly outputSchema: ObjectSchema;
    readonly annotations: Effects;
  };
}

interface Effects {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

interface ObjectSchema {
  readonly [keyword: string]: unknown;
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the parts of an OpenAPI document.
type Any = any;

/** Every operation that has a scope and a bucket. */
export const createAgentTools = (): ReadonlyMap<string, AgentTool> => {
  const { paths, components } = openApiDocument() as Any;
  const tools = keyOperations.flatMap((operation): AgentTool[] => {
    const { scope, bucket, path, method, summary, description = '' } = operation;
    if (!scope || !bucket) return [];
    const document = paths[basePath + path][method.toLowerCase()];
    const name = toolNameOf(methodNames[operation.id]);
    return [
      {
        scope,
        operation,
        listed: {
          name,
          title: summary,
          description: `${summary}. ${description}`.trim(),
          inputSchema: inputSchemaOf(operation, document, components),
          outputSchema: outputSchemaOf(document, components),
          annotations: effectsOf(operation),
        },
      },
    ];
  });
  // The order of modules' exports differs between the tools that load them.
  tools.sort((a, b) => (a.listed.name < b.listed.name ? -1 : 1));
  return new Map(tools.map((tool) => [tool.listed.name, tool]));
};

/** Written with each call, so that a retry by the agent does the work once (contract, "Idempotency"). */
export const idempotencyArgument = 'idempotency_key';

/** Ids of the path, then parameters, then fields of the body, in one object: their names never collide. */
const inputSchemaOf = (operation: KeyOperation, document: Any, components: Any): ObjectSchema => {
  const ids = paramsIn(operation.path);
  const parameters = (document.parameters ?? []).filter(
    (one: Any) => one.in === 'path' || one.in === 'query',
  );
  const body = document.requestBody?.content['application/json'].schema;
  const fields = body ? inlined(body, components) : { properties: {}, required: [] };
  const properties = {
    ...Object.fromEntries(
      parameters.map(({ name, schema, description }: Any) => [
        name,
        { ...withoutNull(inlined(schema, components)), ...(description && { description }) },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries<Any>(fields.properties)
        .map(([name, property]) => [name, withoutNull(property)])
        .filter(([name, { readOnly }]) => !readOnly && !ids.includes(name)),
    ),
    ...(takesIdempotencyKey(operation) && {
      [idempotencyArgument]: {
        type: 'string',
        maxLength: 255,
        description:
          'A new random text for each piece of work. Repeat a call whose answer was lost with the same one: the work is done once.',
      },
    }),
  };
  for (const [name, property] of Object.entries<Any>(properties))
    property.description ??= fieldMeanings[name];
  const needed = parameters.filter((one: Any) => one.required).map(({ name }: Any) => name);
  const required = [...new Set([...needed, ...(fields.required ?? [])])].filter((name) => name in properties);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
};

const outputSchemaOf = ({ responses }: Any, components: Any): ObjectSchema => {
  const [, answer] = Object.entries<Any>(responses).find(([status]) => status.startsWith('2'))!;
  const schema = answer.content?.['application/json'].schema;
  return { type: 'object', ...(schema && inlined(schema, components)) };
};

/** Clients know plain JSON Schema: no references, no words of OpenAPI, and one type at a time. */
const inlined = (node: Any, components: Any): Any => {
  if (Array.isArray(node)) return node.map((item) => inlined(item, components));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, discriminator, anyOf, 'x-enum-varnames': _, ...described } = node;
  if ($ref) {
    const name = $ref.split('/').at(-1);
    const whole = { ...components.schemas[name], ...described, ...(anyOf && { anyOf }) };
    // Clients check answers against the schema, and events of erased persons and of tests have another payload.
    return inlined(name.endsWith('Payload') ? { anyOf: [whole, { type: 'object' }] } : whole, components);
  }
  if (described.format === 'int64') delete described.format;
  const plain = Object.fromEntries(
    Object.entries(described).map(([key, value]) => [key, inlined(value, components)]),
  );
  // A property may be named `type`, too.
  if (Array.isArray(plain.type)) {
    const { type, description, ...others } = plain;
    const kinds = type.map((one: string) => (one === 'null' ? { type: one } : { ...others, type: one }));
    return { ...(description && { description }), anyOf: kinds };
  }
  if (!anyOf) return plain;
  const kinds = inlined(anyOf, components).flatMap((kind: Any) => kind.anyOf ?? kind);
  return { ...plain, anyOf: kinds };
};

/**
 * Some clients refuse all tools for one argument that may be null. The interface takes null all the same, where it
 * clears a field.
 */
const withoutNull = (node: Any): Any => {
  if (Array.isArray(node)) return node.map(withoutNull);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, ...others } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutNull(value)]),
  ) as Any;
  const kinds: Any[] | undefined = anyOf?.filter(({ type }: Any) => type !== 'null');
  if (!kinds) return others;
  return kinds.length === 1 ? { ...kinds[0], ...others } : { ...others, anyOf: kinds };
};

/** A second call with the same arguments changes nothing more. */
const repeatable: ReadonlySet<string> = new Set([
  'updateLead',
  'updateClient',
  'updateAffiliate',
  'erasePerson',
  'deleteSubscription',
  'releaseHeldDeliveries',
  'discardHeldDeliveries',
]);

/** Adds something and overwrites nothing. A create with an `external_id` may update, and a rotation ends a secret. */
const additive: ReadonlySet<string> = new Set([
  'createSubscription',
  'testSubscription',
  'createTestEvent',
  'createSubscriptionReplay',
  'releaseHeldDeliveries',
]);

/** Sends something to a receiver outside. */
const outward: ReadonlySet<string> = new Set([
  'createSubscription',
  'updateSubscription',
  'testSubscription',
  'createTestEvent',
  'createSubscriptionReplay',
  'releaseHeldDeliveries',
]);

const effectsOf = ({ id, method }: KeyOperation): Effects => {
  const readOnlyHint = method === 'GET';
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && !additive.has(id),
    idempotentHint: readOnlyHint || repeatable.has(id),
    openWorldHint: outward.has(id),
  };
};
