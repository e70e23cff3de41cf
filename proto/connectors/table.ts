import { sampleDelivery } from '../events/sample.ts';
import { withSampleIds } from '../events/shared.ts';
import { eventDefinitions, eventTypes } from '../events.ts';
import { methodNames } from '../method-names.ts';
import { openApiDocument } from '../openapi/document.ts';
import { basePath, type KeyOperation } from '../operation.ts';
import { keyOperations } from '../operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: the parts of an OpenAPI document.
type Any = any;

type Described = (typeof keyOperations)[number];

// The order of modules' exports differs between the tools that load them.
const byName = (operations: readonly Described[]): readonly Described[] =>
  operations.toSorted((a, b) => (methodNames[a.id] < methodNames[b.id] ? -1 : 1));

/** Writes, and reads of one record or of those that match. Tools walk no pages, and send one record at a time. */
const isAction = ({ scope, tag, isBatch, query }: KeyOperation): boolean =>
  (scope === 'integrations:read' || scope === 'integrations:write') &&
  tag !== 'Lookups' &&
  !isBatch &&
  !(query && 'cursor' in (query as Any).shape);

const actionOf = (operation: Described, { paths, components }: Any): Action => {
  const [resource, verb] = methodNames[operation.id].split('.') as [string, string];
  const { method, path, summary, description = '' } = operation;
  const { parameters = [], requestBody, responses } = paths[basePath + path][method.toLowerCase()];
  const resolved = (schema: Any): Any =>
    schema.$ref ? { ...components.schemas[schema.$ref.split('/').at(-1)], ...schema } : schema;
  const body = requestBody ? resolved(requestBody.content['application/json'].schema) : { properties: {} };
  const fieldOf = (name: string, place: Field['in'], schema: Any, required: boolean): Field => {
    const kinds: Any[] = (schema.anyOf ?? [schema])
      .map(resolved)
      .flatMap((one: Any) => [one.type].flat().map((type: string | undefined) => ({ ...one, type })));
    const kind = kinds.find(({ type }) => type !== 'null');
    const about = operation.params[name] ?? schema.description ?? kind.description;
    const lookup = place === 'path' && resource === 'affiliates' ? undefined : lookupOf(name, resource);
    return {
      name,
      label: titleOf(name),
      in: place,
      type: name === 'email' ? 'email' : typeOf(kind),
      required: required || (place === 'body' && name === 'new_status'),
      ...(kinds.some(({ type }) => type === 'null') && { isOptional: true }),
      ...(about && { description: about }),
      ...(lookup && { lookup }),
    };
  };
  const { content } = Object.entries<Any>(responses).find(([status]) => status.startsWith('2'))![1];
  const { example } = content['application/json'];
  const list = Object.keys(example).find((name) => Array.isArray(example[name]));
  return {
    resource,
    operation: verb,
    title: summary,
    description,
    method: method as Action['method'],
    path,
    fields: [
      ...parameters
        .filter((one: Any) => one.in === 'path' || one.in === 'query')
        .map((one: Any) =>
          fieldOf(one.name, one.in, { description: one.description, ...one.schema }, one.required),
        ),
      ...Object.entries<Any>(body.properties)
        .filter(([name, { readOnly }]) => !readOnly && !(name in operation.params) && !spares.has(name))
        .map(([name, schema]) => fieldOf(name, 'body', schema, body.required?.includes(name) ?? false)),
    ],
    ...(list && { list }),
    sample: withSampleIds(list ? example[list][0] : example),
  };
};

/** `new_status` takes an ID too. */
const spares: ReadonlySet<string> = new Set(['new_status_id']);

const typeOf = ({ type: types, anyOf, maxLength }: Any): Field['type'] => {
  const [type] = [types].flat();
  if (anyOf || type === 'string') return maxLength > 500 ? 'longText' : 'text';
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  throw new Error(`a field of the type ${JSON.stringify(type)} has no input in a form`);
};

const lookupOf = (field: string, resource: string): string | undefined => {
  if (field === 'status' || field === 'new_status')
    return resource === 'leads' ? 'leadStatuses' : 'clientStatuses';
  if (field === 'client_id') return 'clients';
  if (field === 'affiliate_id') return 'affiliates';
  return field.endsWith('employee_id') ? 'employees' : undefined;
};

/** `changed_by_employee_id` → `Changed By Employee ID`. */
const titleOf = (name: string): string =>
  name
    .split('_')
    .map((word) => (word === 'id' ? 'ID' : word[0]!.toUpperCase() + word.slice(1)))
    .join(' ');

const lookupsOf = ({ id, path, query, answers }: Described): readonly Lookup[] => {
  const [list, { element }] = Object.entries<Any>((answers[200]!.schema as Any).shape)[0]!;
  const [value, shown] = Object.keys(element.shape) as [string, string];
  const lookup = { path, list, value, shown, ...(query && { isSearch: true }) };
  const name = methodNames[id].split('.')[1]!;
  if (!('is_lead' in element.shape)) return [{ name, label: titleOf(list.replace(/s$/, '')), ...lookup }];
  return [
    { name: 'leadStatuses', label: 'Lead Status', ...lookup, isLead: true },
    { name: 'clientStatuses', label: 'Client Status', ...lookup, isLead: false },
  ];
};

const sampleTime = new Date('2026-01-15T09:30:00.000Z');

const eventOf = (type: (typeof eventTypes)[number]): EventKind => {
  const { title, description } = eventDefinitions[type];
  return { type, title, description, sample: sampleDelivery(type, 1001, sampleTime).event };
};

const document = openApiDocument();

/** What the connectors are made of. `build.ts` writes the values into a package. */
export const { actions, lookups, events }: ConnectorTable = {
  actions: byName(keyOperations.filter(isAction)).map((operation) => actionOf(operation, document)),
  lookups: byName(keyOperations.filter(({ tag }) => tag === 'Lookups')).flatMap(lookupsOf),
  events: eventTypes.map(eventOf),
};

interface ConnectorTable {
  readonly actions: readonly Action[];
  readonly lookups: readonly Lookup[];
  readonly events: readonly EventKind[];
}

/** An operation as an automation tool shows it: one form, which sends one request. */
export interface Action {
  /** The method of the TypeScript client: `leads`, `create`. */
  readonly resource: string;
  readonly operation: string;
  readonly title: string;
  readonly description: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Below `/api/v1`, with the fields `in: 'path'` in braces. */
  readonly path: string;
  readonly fields: readonly Field[];
  /** The array of records in the answer of a find; absent if the answer is the record. */
  readonly list?: string;
  /** One record of the answer. */
  readonly sample: Readonly<Record<string, unknown>>;
}

export interface Field {
  /** As the interface spells it. */
  readonly name: string;
  readonly label: string;
  readonly in: 'path' | 'query' | 'body';
  readonly type: 'text' | 'longText' | 'email' | 'integer' | 'number' | 'boolean';
  readonly required: boolean;
  /** A record may be without it. */
  readonly isOptional?: true;
  readonly description?: string;
  /** The name of the lookup whose items are its values. */
  readonly lookup?: string;
}

/** A list that fills a drop-down. */
export interface Lookup {
  readonly name: string;
  /** In the singular, for a person. */
  readonly label: string;
  readonly path: string;
  /** The array of items in the answer, and the fields of an item that are sent and shown. */
  readonly list: string;
  readonly value: string;
  readonly shown: string;
  /** Only lead statuses, or none. */
  readonly isLead?: boolean;
  /** It finds nothing without a text in `q`. */
  readonly isSearch?: boolean;
}

export interface EventKind {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /** A delivery of the type. */
  readonly sample: Readonly<Record<string, unknown>>;
}
