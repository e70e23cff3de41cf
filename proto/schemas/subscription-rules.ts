import { z } from 'zod';
import { canHold, operatorNames, type PayloadCondition, type Scalar } from '../conditions.ts';
import type { Detail } from '../errors.ts';
import { type EventType, eventDefinitions } from '../events.ts';
import { codePoints, echo, type Fault, fieldName, rule, text, valueRule } from './values.ts';

const maxConditions = 10;
const maxValues = 20;
const maxCharacters = 500;

const value = z.union([z.string().max(maxCharacters), z.number(), z.boolean()], {
  error: `${fieldName} must be a text of at most ${maxCharacters} characters, a number, true or false`,
});

const condition = z
  .strictObject({
    field: text({ min: 1, max: 100, description: 'A field of the payload of every subscribed type.' }),
    equals: value.optional(),
    in: z.array(value).min(1).max(maxValues).optional(),
    exists: z.boolean().optional(),
    startsWith: z.string().min(1).max(maxCharacters).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
  })
  .check(rule((given) => operatorFault(given)));

const operatorFault = (condition: Readonly<Record<string, unknown>>): Fault | undefined => {
  const used = operatorNames.filter((name) => condition[name] !== undefined);
  const isRange = used.every((name) => name === 'min' || name === 'max');
  if (used.length === 1 || (used.length === 2 && isRange)) return undefined;
  return {
    code: used.length === 0 ? 'required' : 'must_agree',
    message: `${fieldName} must have one of ${operatorNames.join(', ')}; only min and max may be together`,
  };
};

const list = z.array(condition).max(maxConditions);

/** An empty list is none. */
export const conditions = list
  .transform((all): readonly PayloadCondition[] | null => (all.length === 0 ? null : all))
  .nullish()
  .meta({
    description:
      'Only events whose payload meets all of these conditions are delivered. Null: every event of the types. Each has one operator; `min` and `max` may be together.',
  });

const conditionsAnswer = list.optional().meta({ description: 'Absent: there are none.' });

type Kind = 'string' | 'number' | 'boolean' | 'other';

/** Conditions name fields that each of the event types has, with values of the field's kind, and can all hold at once. */
export const conditionProblems = (
  types: readonly EventType[],
  all: readonly PayloadCondition[] | null,
): readonly Detail[] => {
  const problems = fieldProblems(types, all ?? []);
  return problems.length > 0 ? problems : contradictions(all ?? []);
};

const contradictions = (all: readonly PayloadCondition[]): readonly Detail[] =>
  [...Map.groupBy(all, ({ field }) => field)]
    .filter(([, own]) => !canHold(own))
    .map(([field, ofField]) => {
      const texts = ofField.flatMap((one) =>
        operatorNames
          .filter((name) => one[name] !== undefined)
          .map((name) => `${name} ${echo(JSON.stringify(one[name]))}`),
      );
      return {
        field: `conditions[${all.indexOf(ofField.at(-1)!)}]`,
        code: 'must_agree',
        message: `no ${field} can meet ${texts.join(' and ')}, so no event would be delivered`,
      };
    });

const fieldProblems = (types: readonly EventType[], all: readonly PayloadCondition[]): readonly Detail[] =>
  all.flatMap((condition, at): Detail[] => {
    const problem = (message: string): Detail[] => [
      { field: `conditions[${at}].field`, code: 'out_of_range', message },
    ];
    const without = types.find((type) => fieldsOf(type)[condition.field] === undefined);
    if (without)
      return problem(
        `${without} has no field ${condition.field}; it has ${Object.keys(fieldsOf(without)).join(', ')}`,
      );
    const kinds = types.map((type) => kindOf(fieldsOf(type)[condition.field]!));
    const fitting = wantedKinds(condition);
    const unfit = types.find((_, index) => fitting.some((kind) => kind !== kinds[index]));
    if (!unfit) return [];
    return problem(
      `${condition.field} is a ${kinds[types.indexOf(unfit)]} in ${unfit}; the condition is for a ${fitting[0]}`,
    );
  });

const fieldsOf = (type: EventType): Readonly<Record<string, z.core.$ZodType>> => {
  const { shape } = eventDefinitions[type].payload;
  return Object.assign(Object.create(null), shape);
};

export const kindOf = (schema: z.core.$ZodType): Kind => {
  const { def } = (schema as z.ZodType)._zod as z.core.$ZodTypes['_zod'];
  if (def.type === 'nullable' || def.type === 'optional') return kindOf(def.innerType);
  return def.type === 'string' || def.type === 'number' || def.type === 'boolean' ? def.type : 'other';
};

const wantedKinds = ({ equals, in: values, startsWith, min, max }: PayloadCondition): readonly Kind[] => {
  if (startsWith !== undefined) return ['string'];
  if (min !== undefined || max !== undefined) return ['number'];
  const given: readonly Scalar[] = values ?? (equals === undefined ? [] : [equals]);
  return given.map((one) => typeof one as Kind);
};

const paceUnits = ['second', 'minute'] as const;
const paceShape = z.strictObject({ limit: z.int().min(1).max(1_000), per: z.enum(paceUnits) });

export type Pace = z.output<typeof paceShape>;
export const secondsOf = (per: Pace['per']): number => (per === 'second' ? 1 : 60);

export const pace = paceShape.nullish().meta({
  description: 'At most so many attempts begin in any second, or any minute. Null: no such limit.',
});
export const paceAnswer = paceShape.optional().meta({ description: 'Absent: there is no such limit.' });

export const paused = z
  .boolean()
  .optional()
  .meta({ description: 'While true, deliveries wait, and are sent in their order afterwards.' });
const pausedAnswer = z
  .boolean()
  .optional()
  .meta({ description: 'True: deliveries wait. Absent: it is not paused.' });

export const maxHeaders = 20;
const maxHeaderBytes = 8_000;
const maxValueCharacters = 1_000;
const printable = /^[\x20-\x7e]*$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const headerValue = z
  .string()
  .trim()
  .check(valueRule((given) => headerValueFault(given)))
  .meta({ minLength: 1, maxLength: maxValueCharacters, pattern: printable.source });

const headerValueFault = (value: string): Fault | undefined => {
  if (value === '')
    return { code: 'required', message: `${fieldName} must not be blank; send null to remove the header` };
  if (codePoints(value) > maxValueCharacters)
    return { code: 'too_long', message: `${fieldName} must be at most ${maxValueCharacters} characters` };
  if (printable.test(value)) return undefined;
  return { code: 'invalid_characters', message: `${fieldName} must be ASCII without control characters` };
};

/** Values are secret: no answer shows them. */
export const headers = z
  .record(z.string(), headerValue.nullable())
  .check(valueRule((given) => headersFault(given)))
  .nullish()
  .meta({
    description:
      'Headers of every delivery besides its own, by name. Their values are shown in no answer. An update changes the named ones, a null removes one, and null instead of all removes all.',
  });

const headersFault = (headers: Readonly<Record<string, string | null>>): Fault | undefined => {
  const names = Object.keys(headers);
  if (names.length > maxHeaders)
    return { code: 'too_long', message: `headers must be at most ${maxHeaders}` };
  for (const [at, name] of names.entries()) {
    if (!headerName.test(name))
      return {
        code: 'invalid_characters',
        message: `headers: ${JSON.stringify(name.slice(0, 100))} is not the name of a header`,
      };
    if (taken.test(name))
      return { code: 'out_of_range', message: `headers: ${name} is set by Causeway or by the connection` };
    if (names.findIndex((other) => other.toLowerCase() === name.toLowerCase()) < at)
      return { code: 'must_agree', message: `headers: ${name} is there twice` };
  }
  const size = Object.entries(headers).reduce(
    (sum, [name, one]) => sum + name.length + (one?.length ?? 0),
    0,
  );
  return size > maxHeaderBytes
    ? { code: 'too_long', message: `headers exceed ${maxHeaderBytes} characters` }
    : undefined;
};

/** What a delivery sets itself, what belongs to the connection (RFC 9110, 7.6.1), and what changes the body's framing. */
const taken =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|expect|content-(?:type|length|encoding|md5|digest)|repr-digest|digest|accept-encoding|user-agent|date|x-webhook-.*|webhook-.*)$/i;

export const headerNamesAnswer = z
  .array(z.string())
  .max(maxHeaders)
  .optional()
  .meta({ description: 'Names of its own headers, whose values are secret. Absent: it has none.' });

/** With what a subscription is created or changed. */
export const subscriptionChanges = { conditions, pace, headers, paused };
/** What a form showed of them. */
export const knownRules = { conditions, pace, paused, headerNames: z.array(z.string()).max(maxHeaders) };
export const subscriptionRulesAnswer = {
  conditions: conditionsAnswer,
  pace: paceAnswer,
  paused: pausedAnswer,
  headerNames: headerNamesAnswer,
};
