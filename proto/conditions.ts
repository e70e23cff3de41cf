import { isBlank } from './schemas/values.ts';

/** A test of one field of a payload (contract, "Conditions"). It has one operator; `min` and `max` may be together. */
export interface PayloadCondition {
  readonly field: string;
  readonly equals?: Scalar | undefined;
  readonly in?: readonly Scalar[] | undefined;
  /** True: the field is there, and neither null nor blank. False: the opposite. */
  readonly exists?: boolean | undefined;
  readonly startsWith?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export type Scalar = string | number | boolean;

/**
 * Whether an event is for a subscription with these conditions: all must hold. The only place that decides it. The payload
 * of an erased person's event meets no condition (contract, "Erasure").
 */
export const matches = (conditions: readonly PayloadCondition[] | null, payload: unknown): boolean => {
  if (conditions === null || conditions.length === 0) return true;
  if (typeof payload !== 'object' || payload === null) return false;
  const fields = payload as Readonly<Record<string, unknown>>;
  return (
    fields.erased !== true &&
    conditions.every((one) => holds(one, Object.hasOwn(fields, one.field) ? fields[one.field] : undefined))
  );
};

const holds = (condition: PayloadCondition, value: unknown): boolean => {
  const { equals, in: values, exists, startsWith, min, max } = condition;
  if (equals !== undefined) return value === equals;
  if (values !== undefined) return values.some((one) => one === value);
  if (exists !== undefined) return exists === isPresent(value);
  if (startsWith !== undefined) return typeof value === 'string' && value.startsWith(startsWith);
  return typeof value === 'number' && value >= (min ?? -Infinity) && value <= (max ?? Infinity);
};

const isPresent = (value: unknown): boolean =>
  value != null && !(typeof value === 'string' && isBlank(value));

/** Whether some value of the field that they test meets all of these conditions. */
export const canHold = (conditions: readonly PayloadCondition[]): boolean =>
  [
    undefined,
    'x',
    ...conditions.flatMap(({ equals, in: values = [], startsWith, min, max }) => [
      ...[equals, ...values, startsWith, min, max],
      // A blank start may go on with what is visible.
      ...(startsWith === undefined ? [] : [`${startsWith}x`]),
    ]),
  ].some((value) => conditions.every((one) => holds(one, value)));

/** For the audit log and for viewers, who must not read personal data in it: `email equals`. */
export const conditionName = ({ field, ...operators }: PayloadCondition): string =>
  `${field} ${operatorNames.filter((name) => operators[name] !== undefined).join(' ')}`;

export const operatorNames = ['equals', 'in', 'exists', 'startsWith', 'min', 'max'] as const;
