import type { Json } from './components.ts';

/**
 * What clients rely on, from an OpenAPI document. `snapshot.generated.json` holds what has been promised
 * (contract, "Versioning").
 */
export interface Snapshot {
  /** By method and path. */
  readonly operations: Readonly<Record<string, OperationPromise>>;
  /** By event type. */
  readonly deliveries: Readonly<Record<string, DeliveryPromise>>;
  readonly schemas: Readonly<Record<string, Json>>;
}

interface OperationPromise {
  readonly operationId: string;
  readonly scope?: string;
  readonly bucket?: string;
  readonly parameters?: Readonly<Record<string, Json>>;
  /** Names of parameters, and `body`. */
  readonly required?: readonly string[];
  readonly body?: string;
  /** By status: the schema, then the error codes. */
  readonly answers: Readonly<Record<string, string>>;
}

interface DeliveryPromise {
  readonly headers: readonly string[];
  readonly body: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the parts of a document, which other tests check.
type Any = any;

export const snapshotOf = (document: Any): Snapshot => {
  const { components } = document;
  const resolved = (part: Any) => (part.$ref ? components[part.$ref.split('/')[2]][nameIn(part.$ref)] : part);
  const answerOf = (response: Any): string => {
    const json = resolved(response).content?.['application/json'];
    if (!json) return '';
    const examples: Any[] = Object.values(json.examples ?? {});
    const codes = examples.flatMap(({ value }) => value.error_code ?? value.reason ?? []);
    return [nameIn(json.schema.$ref), ...new Set(codes)].join(' ');
  };
  const bodyOf = (operation: Any): string =>
    nameIn(operation.requestBody.content['application/json'].schema.$ref);
  const operations = entries(document.paths).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => {
      const { operationId, 'x-scope': scope, 'x-bucket': bucket, requestBody, responses } = operation;
      const parameters: Any[] = (operation.parameters ?? []).map(resolved);
      const required = parameters.filter((one) => one.required).map(({ name }) => name);
      if (requestBody?.required) required.push('body');
      const promise = {
        operationId,
        ...(scope && { scope }),
        ...(bucket && { bucket }),
        ...(parameters.length > 0 && {
          parameters: Object.fromEntries(parameters.map((one) => [one.name, bare(one.schema)])),
        }),
        ...(required.length > 0 && { required }),
        ...(requestBody && { body: bodyOf(operation) }),
        answers: mapped(responses, answerOf),
      };
      return [`${method.toUpperCase()} ${path}`, promise] as const;
    }),
  );
  const deliveries = mapped(document.webhooks, ({ post }: Any) => ({
    headers: post.parameters.filter((one: Any) => one.required).map(({ name }: Any) => name),
    body: bodyOf(post),
  }));
  return {
    // The order of modules' exports differs between the tools that load them.
    operations: sorted(operations),
    deliveries,
    schemas: sorted(entries(mapped(components.schemas, bare))),
  };
};

const entries = (object: Any): [string, Any][] => Object.entries(object);
const mapped = (object: Any, change: (value: Any) => Any): Any =>
  Object.fromEntries(entries(object).map(([name, value]) => [name, change(value)]));
const sorted = (pairs: readonly (readonly [string, Any])[]): Any =>
  Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
const nameIn = (reference: string): string => reference.split('/').at(-1)!;

/** Without what explains a schema. */
const bare = (schema: Any): Any => {
  if (Array.isArray(schema)) return schema.map(bare);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { description, example, default: _, discriminator, properties, enum: values, $ref, ...rest } = schema;
  return {
    ...($ref && { $ref: nameIn($ref) }),
    ...mapped(rest, bare),
    ...(values && { enum: values }),
    ...(properties && { properties: mapped(properties, bare) }),
  };
};

/** Breaks a line only where it would be too long. */
export const snapshotText = (value: unknown, indent = ''): string => {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length < 160) return flat;
  const inner = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((item) => inner + snapshotText(item, inner))
    : entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${snapshotText(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
};

/** What may grow: readers ignore what they do not know, and `required` decides which fields a request needs. */
const mayGrow = [
  'operations',
  'parameters',
  'answers',
  'deliveries',
  'headers',
  'schemas',
  'properties',
  'enum',
  'oneOf',
];

/**
 * Names each part that the earlier snapshot promised and the later one lacks, and each part that may not be added.
 * It also names changes that break no client, such as a higher maximum: these are accepted by hand, in the file.
 */
export const brokenPromises = (before: Snapshot, after: Snapshot): readonly string[] => {
  const requests = requestSchemas(before);
  return compare(before, after, []);

  function compare(old: Any, next: Any, path: readonly string[]): string[] {
    const place = path.join(' ');
    const [olds, nexts] = [old, next].map((part) => partsOf(part, path));
    if (!olds || !nexts) return old === next ? [] : [`${place}: changed`];
    const name = path.at(-1) ?? '';
    const isInAnswer = path[0] === 'schemas' && !requests.has(path[1]!);
    const grows = mayGrow.includes(name) || isAnswer(path) || (name === 'required' && isInAnswer);
    // An operation may get its first parameters.
    const added = Object.keys(nexts).filter((key) => !(key in olds) && key !== 'parameters');
    return [
      ...(grows ? [] : added).map((key) => `${place} ${key}: added`),
      ...entries(olds).flatMap(([key, part]) =>
        key in nexts ? compare(part, nexts[key], [...path, key]) : [`${place} ${key}: removed`],
      ),
    ];
  }
};

/** The schemas that an operation takes, and those that these refer to. */
const requestSchemas = ({ operations, schemas }: Snapshot): ReadonlySet<string> => {
  const names = new Set(Object.values(operations).flatMap(({ body }) => body ?? []));
  for (const name of names)
    for (const [, other] of JSON.stringify(schemas[name]).matchAll(/"\$ref":"(\w+)"/g)) names.add(other!);
  return names;
};

const isAnswer = (path: readonly string[]): boolean => path[0] === 'operations' && path.at(-2) === 'answers';

/** The parts of an object by name, of a list or an answer in any order. */
const partsOf = (value: Any, path: readonly string[]): Record<string, Any> | undefined => {
  const list = isAnswer(path) ? value.split(' ') : value;
  if (Array.isArray(list)) return Object.fromEntries(list.map((one) => [one.$ref ?? one.type ?? one, one]));
  return typeof value === 'object' ? value : undefined;
};
