import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { erasedPayloadSchema } from '../events/shared.ts';
import { eventDefinitions, eventTypes } from '../events.ts';
import { change, changeKinds } from '../operations/changes.ts';
import * as f from '../schemas/fields.ts';
import * as r from '../schemas/records.ts';
import * as w from '../schemas/webhooks.ts';

/** `createLead` → `CreateLead`, `client.status_changed` → `ClientStatusChanged`. */
export const pascal = (id: string): string =>
  id.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Defined once, so that a generated client has one type for each. */
const shared: readonly (readonly [name: string, ...schemas: z.ZodType[]])[] = [
  ['EventType', w.eventTypeAnswer, w.knownEventType],
  ['WebhookEvent', w.envelope],
  ['StatusRef', f.statusReference],
  ['Subscription', w.subscription],
  ['SubscriptionWithSecret', w.subscriptionWithSecret],
  ['PersonCreated', r.personCreated],
  ['PersonUpdated', r.personUpdated],
  ['StatusChanged', r.statusChanged],
  ['NoteCreated', r.noteCreated],
  ['AffiliateCreated', r.affiliateCreated],
  ['Person', r.personFound],
  ['PersonRecord', r.person],
  ['AffiliateRecord', r.affiliate],
  ['NoteRecord', r.note],
  ...Object.entries(changeKinds),
  ['Change', change],
  ['ErasedPayload', erasedPayloadSchema],
  ...eventTypes.map((type) => [`${pascal(type)}Payload`, eventDefinitions[type].payload] as const),
];

const nameOf: ReadonlyMap<z.core.$ZodType, string> = new Map(
  shared.flatMap(([name, ...schemas]) => schemas.map((schema) => [schema, name] as const)),
);

export interface Components {
  readonly schemas: Json;
  refer(name: string, schema: z.ZodType): Json;
  inline(schema: z.ZodType): Json;
}

export const createComponents = (initial: Json): Components => {
  const schemas: Json = { ...initial };

  const lift = (node: unknown, isRoot = false): unknown => {
    if (Array.isArray(node)) return node.map((item) => lift(item));
    if (typeof node !== 'object' || node === null) return node;
    const { [marker]: name, ...rest } = node as Json;
    const lifted = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, lift(value)]));
    if (typeof name !== 'string' || isRoot) return nullable(lifted);
    const component = schemas[name] as Json;
    const own = Object.entries(component.discriminator ? {} : lifted).filter(
      ([key, value]) => !isDeepStrictEqual(value, component[key]),
    );
    return { $ref: `#/components/schemas/${name}`, ...Object.fromEntries(own) };
  };

  for (const [name, schema] of shared) schemas[name] = lift(convert(schema!), true);
  schemas.Change = { ...byType(schemas, Object.keys(changeKinds)), description: 'A change, by its `type`.' };

  return {
    schemas,
    inline: (schema) => lift(convert(schema), true) as Json,
    refer: (name, schema) => {
      const component = nameOf.get(schema) ?? name;
      schemas[component] ??= describeFields(lift(convert(schema), true) as Json);
      return { $ref: `#/components/schemas/${component}` };
    },
  };
};

/** A union of components that generators tell apart by `type`. */
export const byType = (schemas: Json, names: readonly string[]): Json => {
  const refs = names.map((name) => `#/components/schemas/${name}`);
  const types = names.map(
    (name) => (schemas[name] as { properties: { type: { enum: [string] } } }).properties.type.enum[0],
  );
  return {
    oneOf: refs.map(($ref) => ({ $ref })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(types.map((type, at) => [type, refs[at]])),
    },
  };
};

/** A scalar that may be null has a list of types; generators know other schemas that may be null as `anyOf` only. */
const nullable = (node: Json): Json => {
  const { anyOf, ...rest } = node;
  const [kind, none, ...more] = (anyOf ?? []) as Json[];
  if (none?.type !== 'null' || more.length > 0 || !/^(string|integer|number)$/.test(`${kind!.type}`))
    return node;
  return kind!.enum ? node : { ...kind, ...rest, type: [kind!.type, 'null'] };
};

/** Generators such as openapi-typescript would require a property with a `default`, so words describe it. */
const describeFields = (schema: Json): Json => {
  if (!schema.properties) return schema;
  const properties = Object.entries(schema.properties as Record<string, Json>).map(([name, property]) => {
    // Without a type, a Java client would send null.
    if (property.readOnly) return [name, { ...nullable(convert(answered[name]!)), ...property }];
    if (!('default' in property)) return [name, property];
    const { default: value, description, ...rest } = property;
    const absent = `\`${JSON.stringify(value)}\` when absent.`;
    return [name, { ...rest, description: description ? `${description} ${absent}` : absent }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
};

const answered: Readonly<Record<string, z.ZodType>> = {
  ...r.affiliate.shape,
  ...r.person.shape,
  ...w.subscription.shape,
};

const marker = 'x-component';

export type Json = { [name: string]: unknown };

/** What a sender writes, before defaults. Answers allow unknown fields, so that fields can be added later. */
const convert = (schema: z.ZodType): Json => {
  const override = ({ zodSchema, jsonSchema: node }: Converted): void => {
    simplify(zodSchema, node);
    const component = nameOf.get(zodSchema);
    if (component) node[marker] = component;
  };
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', override }) as Json;
  return rest;
};

interface Converted {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: Json;
}

const simplify = (zodSchema: z.core.$ZodType, node: Json): void => {
  if (node.format === 'date-time' || node.format === 'email') delete node.pattern;
  if (node.type === 'object') delete node.propertyNames;
  if (node.enum) delete node.minLength;
  // Generators mistake a boolean with one value for an identifier, a string or an enumeration of strings.
  if (node.type === 'boolean') delete node.const;
  if (node.type === 'integer' && node.maximum === Number.MAX_SAFE_INTEGER) node.format = 'int64';
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  const shown = z.globalRegistry.get(zodSchema);
  if (shown?.default !== undefined) node.default = shown.default;
};
