import type { z } from 'zod';
import { eventDefinitions, eventTypes, harmlessSchema, isEventType } from '../events.ts';

/** Masks payloads for viewers and shared links: only what the schema of an event type marks as harmless stays readable. */
export const masked = '•••';

/** Names that the type does not have are masked too, because a key can be data. */
export const maskPayload = (type: string, payload: unknown): unknown =>
  maskFields(payload, (name) => (isEventType(type) ? fields.get(type)!.get(name) : undefined));

/** A receiver's answer: JSON by the fields of all types, anything else as a whole. */
export const maskText = (text: string): string => {
  if (text.trim() === '') return text;
  try {
    return JSON.stringify(maskFields(JSON.parse(text), fieldOfAny));
  } catch {
    return masked;
  }
};

const fields = new Map(
  eventTypes.map((type) => [
    type,
    new Map<string, z.ZodType>(Object.entries(eventDefinitions[type].payload.shape)),
  ]),
);

/** One that is not harmless, if any type has it. */
const fieldOfAny = (name: string): z.ZodType | undefined => {
  const all = eventTypes.flatMap((type) => fields.get(type)!.get(name) ?? []);
  return all.find((field) => !harmlessSchema(field)) ?? all[0];
};

const maskFields = (value: unknown, fieldNamed: (name: string) => z.ZodType | undefined): unknown => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return masked;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      // Of a person who was erased (contract, "Erasure").
      if (name === 'erased' && inner === true) return [name, inner];
      const field = fieldNamed(name);
      return field ? [name, maskField(field, inner)] : [masked, masked];
    }),
  );
};

const maskField = (field: z.ZodType, value: unknown): unknown => {
  if (value === null || value === '') return value;
  if (typeof value === 'string' && (value.length > maxShown || telling.test(value))) return masked;
  return harmlessSchema(field)?.safeParse(value).success ? value : masked;
};

const maxShown = 100;
/** A harmless text of a test event can be an address or a phone number. */
const telling = /@|^\+?[\d ()./-]{7,}$/;

/**
 * Masks what can be a token: user info, path parts other than words, the values of the query, the fragment.
 */
export const maskUrl = (text: string): string => {
  const url = URL.parse(text);
  if (!url) return masked;
  const user = url.username || url.password ? `${masked}@` : '';
  const path = url.pathname
    .split('/')
    .map((part) => (part === '' || plainPart.test(part) ? part : masked))
    .join('/');
  const query = url.search
    .slice(1)
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const [name = '', value] = pair.split('=', 2);
      if (value === undefined || !plainPart.test(name)) return masked;
      return `${name}=${masked}`;
    });
  return `${url.protocol}//${user}${url.host}${path}${query.length > 0 ? `?${query.join('&')}` : ''}${url.hash ? `#${masked}` : ''}`;
};

/** A token has digits or capitals, or is long. */
const plainPart = /^(?:v\d{1,2}|(?=.{1,32}$)[a-z]{1,16}(?:[-_.][a-z]{1,16})*)$/;

/** Only headers that are known to hold no token stay. */
export const maskHeaders = (
  headers: readonly (readonly [name: string, value: string])[],
): (readonly [string, string])[] =>
  headers.map(([name, value]) => [name, plainHeaders.test(name) ? value : masked]);

const plainHeaders =
  /^(?:accept(?:-encoding|-ranges)?|age|allow|cache-control|connection|content-(?:encoding|language|length|type)|date|expires|host|keep-alive|last-modified|retry-after|server|transfer-encoding|user-agent|vary|x-webhook-(?:attempt|event|id|origin|replay|sequence|signature|subscription|timestamp)|webhook-(?:id|signature|timestamp))$/i;

/** A condition may name a person: its values are masked as those of its field in a payload. */
const maskCondition = (condition: Readonly<Record<string, unknown>>): unknown =>
  Object.fromEntries(
    Object.entries(condition).map(([name, value]) => [
      name,
      name === 'field' || name === 'exists' ? value : maskOperand(String(condition.field), value),
    ]),
  );

const maskOperand = (name: string, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one) => maskOperand(name, one));
  const field = fieldOfAny(name);
  return field ? maskField(field, value) : masked;
};

/** Masks every field `url`, `headers` and `conditions`, however deep, so that operations added later are masked too. */
export const maskTargets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(maskTargets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'url' && typeof inner === 'string') return [name, maskUrl(inner)];
      if (name === 'headers' && Array.isArray(inner)) return [name, maskHeaders(inner)];
      if (name === 'conditions' && Array.isArray(inner)) return [name, inner.map(maskCondition)];
      return [name, maskTargets(inner)];
    }),
  );
};
