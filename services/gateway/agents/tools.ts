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
        { ...inlined(schema, components), ...(description && { description }) },
      ]),
    ),
    ...Object.fromEntries(
      Object.entries<Any>(fields.properties).filter(
        ([name, { readOnly }]) => !readOnly && !ids.includes(name),
      ),
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
    property.description ??= argumentMeanings[name];
  const needed = parameters.filter((one: Any) => one.required).map(({ name }: Any) => name);
  const required = [...new Set([...needed, ...(fields.required ?? [])])].filter((name) => name in properties);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
};

/** Of arguments that the interface does not describe, because their names do; an agent asks where a value comes from. */
const argumentMeanings: Readonly<Record<string, string>> = {
  affiliate_company_name: "The affiliate's company.",
  affiliate_id: 'An active, approved affiliate: `affiliate_id` of lookups_affiliates.',
  changed_by_employee_id: 'Who made the change: `employee_id` of lookups_employees.',
  city: 'City of the address.',
  client_id: 'ID of the lead or client.',
  description: 'What the subscription is for.',
  email: 'One email address.',
  employee_id: 'The employee in charge: `employee_id` of lookups_employees.',
  enabled: 'Whether deliveries are sent.',
  eventTypes: 'Event types to deliver; the resource causeway://event-types lists them.',
  external_id: 'The ID of the record in another system, exactly.',
  is_active: 'Whether the affiliate is active.',
  is_approved: 'Whether the affiliate is approved.',
  mode: '`create` and `update` are as the single tools; `upsert` updates the items that have an ID, and creates the others.',
  name: 'A label for people.',
  new_status: 'A status by name or ID; lookups_client_statuses lists them.',
  new_status_id: 'A status by ID. One of `new_status` and `new_status_id` is needed.',
  order: '`desc` begins with the newest, `asc` with the oldest.',
  overlapHours: 'How long deliveries carry the signatures of both secrets: 0 to 72.',
  package_keyword: 'The package that the lead asked for.',
  payload: 'The payload of the event; without it, the sample of the type.',
  state: 'State of the address.',
  status: 'A status by name or ID; lookups_client_statuses lists them.',
  status_note: 'A note that is stored with the change.',
  text: 'The note.',
  type: 'An event type; the resource causeway://event-types lists them.',
  types: 'Event types to deliver again; all without it.',
  zip: 'Postal code of the address.',
};

const outputSchemaOf = ({ responses }: Any, components: Any): ObjectSchema => {
  const [, answer] = Object.entries<Any>(responses).find(([status]) => status.startsWith('2'))!;
  const schema = answer.content?.['application/json'].schema;
  return schema ? inlined(schema, components) : { type: 'object' };
};

/** Clients know plain JSON Schema: no references, no words of OpenAPI, and null as one of the types. */
const inlined = (node: Any, components: Any): Any => {
  if (Array.isArray(node)) return node.map((item) => inlined(item, components));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, discriminator, anyOf, 'x-enum-varnames': _, ...own } = node;
  if ($ref)
    return inlined(
      { ...components.schemas[$ref.split('/').at(-1)], ...own, ...(anyOf && { anyOf }) },
      components,
    );
  if (own.format === 'int64') delete own.format;
  const plain = Object.fromEntries(
    Object.entries(own).map(([key, value]) => [key, inlined(value, components)]),
  );
  if (!anyOf) return plain;
  const kinds: Any[] = anyOf
    .map((kind: Any) => inlined(kind, components))
    .flatMap((kind: Any) => kind.anyOf ?? kind);
  const [kind, ...others] = kinds.filter(({ type }) => type !== 'null');
  const isNullable = others.length === 0 && kinds.length === 2 && typeof kind.type === 'string' && !kind.enum;
  return isNullable ? { ...kind, ...plain, type: [kind.type, 'null'] } : { ...plain, anyOf: kinds };
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
