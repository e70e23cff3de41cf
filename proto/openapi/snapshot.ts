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
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface OperationPromise {
  readonly operationId: string;
  readonly scope?: string;
  readonly bucket?: string;
  readonly parameters?: Readonly<Record<string, Schema>>;
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

interface Schema extends Json {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
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

/** Names each change that may break a client of the earlier snapshot. Additions are none. */
export const breakingChanges = (before: Snapshot, after: Snapshot): readonly string[] => {
  const found: string[] = [];
  const say = (place: string, problem: string): void => {
    if (!found.includes(`${place}: ${problem}`)) found.push(`${place}: ${problem}`);
  };
  const paths = new Set(Object.keys(after.operations).map(pathIn));
  for (const [name, old] of entries(before.operations)) {
    const next = after.operations[name];
    if (next) compareOperation(name, old, next);
    else say(name, paths.has(pathIn(name)) ? 'the operation was removed' : 'the path was removed');
  }
  for (const [type, old] of entries(before.deliveries)) {
    const next = after.deliveries[type];
    if (!next) {
      say(type, 'the event type was removed');
      continue;
    }
    for (const header of old.headers)
      if (!next.headers.includes(header)) say(`delivery of ${type}`, `the header ${header} was removed`);
    compareSchema(`delivery of ${type}`, { $ref: old.body }, { $ref: next.body }, 'answer');
  }
  return found;

  function compareOperation(name: string, old: OperationPromise, next: OperationPromise): void {
    for (const fact of ['operationId', 'scope', 'bucket'] as const)
      if (old[fact] !== next[fact]) say(name, `${fact} changed from ${old[fact]} to ${next[fact]}`);
    for (const [parameter, schema] of entries(old.parameters ?? {})) {
      const now = next.parameters?.[parameter];
      if (now) compareSchema(`${name} ${parameter}`, schema, now, 'request');
      else say(name, `the parameter ${parameter} was removed`);
    }
    for (const required of next.required ?? [])
      if (!old.required?.includes(required)) say(name, `${required} is now required`);
    if (old.body && next.body)
      compareSchema(`${name} body`, { $ref: old.body }, { $ref: next.body }, 'request');
    else if (old.body) say(name, 'the body was removed');
    for (const [status, answer] of entries(old.answers)) {
      if (next.answers[status] === undefined) {
        say(name, `the answer ${status} was removed`);
        continue;
      }
      const [schema = '', ...codes] = answer.split(' ');
      const [nextSchema = '', ...nextCodes] = next.answers[status].split(' ');
      for (const code of codes)
        if (!nextCodes.includes(code)) say(`${name} ${status}`, `the error code ${code} was removed`);
      if (schema && nextSchema)
        compareSchema(`${name} ${status}`, { $ref: schema }, { $ref: nextSchema }, 'answer');
      else if (schema !== nextSchema) say(`${name} ${status}`, 'has a body only before or after the change');
    }
  }

  function compareSchema(place: string, old: Schema, next: Schema, way: 'request' | 'answer'): void {
    const [olds, nexts] = [kindsOf(old, before.schemas), kindsOf(next, after.schemas)];
    const [takenTypes, needed] = way === 'request' ? [nexts, olds] : [olds, nexts];
    for (const { type } of needed)
      if (!takenTypes.some((one) => one.type === type))
        say(place, way === 'request' ? `${type} is no longer taken` : `may now be ${type}`);
    for (const former of olds) {
      // A union has several objects: compares with the most similar.
      const compared = nexts
        .filter(({ type }) => type === former.type)
        .map((other) => {
          const from = found.length;
          compareKind(place, former, other, way);
          return found.splice(from);
        });
      found.push(...(compared.toSorted((a, b) => a.length - b.length)[0] ?? []));
    }
  }

  function compareKind(place: string, old: Schema, next: Schema, way: 'request' | 'answer'): void {
    for (const value of old.enum ?? [])
      if (next.enum && !next.enum.includes(value)) say(place, `the value ${value} was removed`);
    const isBoolean = old.type === 'boolean';
    if (!isBoolean && Boolean(old.enum) !== Boolean(next.enum) && Boolean(old.enum) === (way === 'answer'))
      say(place, way === 'answer' ? 'may now be any value' : 'is limited to some values');
    if (old.format !== next.format && (way === 'answer' || next.format))
      say(place, `the format changed from ${old.format} to ${next.format}`);
    if (way === 'request') {
      for (const limit of ['minLength', 'minimum', 'minItems', 'minProperties'])
        if (Number(next[limit] ?? -Infinity) > Number(old[limit] ?? (limit === 'minimum' ? -Infinity : 0)))
          say(place, `${limit} was raised to ${next[limit]}`);
      for (const limit of ['maxLength', 'maximum', 'maxItems', 'maxProperties'])
        if (Number(next[limit] ?? Infinity) < Number(old[limit] ?? Infinity))
          say(place, `${limit} was lowered to ${next[limit]}`);
      for (const rule of ['pattern', 'additionalProperties'])
        if (typeof next[rule] !== 'object' && next[rule] !== undefined && next[rule] !== old[rule])
          say(place, `${rule} changed to ${JSON.stringify(next[rule])}`);
    }
    if (typeof next.additionalProperties === 'object')
      compareSchema(`${place}{}`, old.additionalProperties ?? {}, next.additionalProperties, way);
    const [oldRequired, nextRequired] = [old.required ?? [], next.required ?? []];
    for (const name of way === 'request' ? nextRequired : oldRequired)
      if (way === 'request' && !oldRequired.includes(name)) say(`${place}.${name}`, 'is now required');
      else if (way === 'answer' && next.properties?.[name] && !nextRequired.includes(name))
        say(`${place}.${name}`, 'may now be absent');
    for (const [name, schema] of entries(old.properties ?? {})) {
      const now = next.properties?.[name];
      if (now) compareSchema(`${place}.${name}`, schema, now, way);
      else say(`${place}.${name}`, 'the field was removed');
    }
    if (old.items && next.items) compareSchema(`${place}[]`, old.items, next.items, way);
  }
};

const pathIn = (operation: string): string => operation.split(' ')[1]!;

/** One schema for each type that a value may have. */
const kindsOf = (schema: Schema, schemas: Snapshot['schemas']): readonly (Schema & { type: string })[] => {
  const { $ref, anyOf, oneOf, ...rest } = schema;
  if ($ref) return kindsOf({ ...schemas[$ref], ...rest }, schemas);
  if (oneOf) return [united(oneOf.flatMap((one) => kindsOf(one, schemas)))];
  if (anyOf) return anyOf.flatMap((one) => kindsOf(one, schemas));
  return [schema.type ?? 'any'].flat().map((type) => (type === 'null' ? { type } : { ...schema, type }));
};

/** Objects that differ by `type`, as one: what each of them has, and every value that one of them may have. */
const united = (kinds: readonly Schema[]): Schema & { type: string } => {
  const properties: Record<string, Schema> = {};
  for (const kind of kinds)
    for (const [name, schema] of entries(kind.properties ?? {})) {
      const { anyOf = [], enum: values } = properties[name] ?? {};
      properties[name] = schema.enum
        ? { ...schema, enum: [...(values ?? []), ...schema.enum] }
        : { anyOf: [...anyOf, schema] };
    }
  const [first, ...more] = kinds.map(({ required = [] }) => required);
  const required = first?.filter((name) => more.every((names) => names.includes(name))) ?? [];
  return { type: 'object', properties, required };
};
