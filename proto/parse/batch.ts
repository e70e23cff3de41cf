import type { z } from 'zod';
import { type Detail, invalid } from '../errors.ts';
import type { BodyOf, KeyOperation } from '../operation.ts';
import { readJsonObject } from './json.ts';
import { type Fields, readFields, readQuery, type WithBody } from './read.ts';

export interface BatchItem {
  readonly fields: Fields;
  /** Of its text: a key given twice, a number that cannot be stored. */
  readonly problems: readonly Detail[];
}

interface RawBatch {
  readonly query: string;
  readonly body: Uint8Array;
}

type BatchBody = { readonly items: readonly Fields[] };

/** Parses a batch without judging its items. @throws Problem if the batch itself is not valid */
export const readBatch = <O extends KeyOperation & { readonly body: z.ZodType<BatchBody> }>(
  operation: O,
  sent: RawBatch,
): { readonly body: BodyOf<O>; readonly items: readonly BatchItem[] } => {
  const { value, problems } = readJsonObject(sent.body);
  const found = problems.map((problem) => ({ problem, at: placeIn.exec(problem.field) }));
  const ofBatch = found.flatMap(({ problem, at }) => (at ? [] : [problem]));
  const body = readFields(operation, value, ofBatch, []);
  const all = [...readQuery(operation, sent.query).problems, ...body.problems];
  if (body.value === undefined || all.length > 0) throw invalid(all);
  const items = (value.items as readonly Fields[]).map((fields, index) => ({
    fields,
    problems: found.flatMap(({ problem, at }) => {
      if (!at || Number(at[1]) !== index) return [];
      const field = at[2]!;
      return [{ ...problem, field, message: problem.message.replace(problem.field, field) }];
    }),
  }));
  return { body: body.value, items };
};

const placeIn = /^items\[(\d+)\]\.(.+)$/s;

export interface ReadItem<Value> {
  readonly value?: Value;
  readonly problems: readonly Detail[];
  /** The problems of the fields that were left out. */
  readonly dropped: readonly Detail[];
  readonly valid: () => Partial<Value>;
}

/**
 * An upsert as it is read: where the record exists, what a create requires may be absent and null clears a field.
 * @returns an operation to read an item with.
 */
export const upsertOf = (create: WithBody): WithBody & { readonly requires: readonly string[] } => {
  const body = create.body as z.ZodObject;
  const requires = Object.entries(body.shape).flatMap(([name, field]) =>
    field.safeParse(undefined).success ? [] : [name],
  );
  return { ...create, method: 'PATCH', path: '', body: body.partial(), requires };
};

/**
 * Reads an item as the body of the operation for one record.
 * @param drops whether optional fields that are not valid are left out (contract, "Batches").
 */
export const readItem = <O extends WithBody & { readonly requires?: readonly string[] }>(
  operation: O,
  { fields, problems: before }: BatchItem,
  params: readonly string[],
  drops: boolean,
): ReadItem<BodyOf<O>> => {
  const whole = readFields(operation, fields, before, params);
  const refusal = { problems: whole.problems.slice(0, maxItemProblems), dropped: [], valid: whole.valid };
  if (whole.value !== undefined) return { ...refusal, value: whole.value };
  const shape = (operation.body as z.ZodObject).shape;
  const wrong = new Set(whole.problems.map(({ field }) => /^[^.[]*/.exec(field)![0]));
  const mayDrop = (name: string): boolean =>
    !Object.hasOwn(shape, name) ||
    (!kept.has(name) && !operation.requires?.includes(name) && shape[name]!.safeParse(undefined).success);
  if (!drops || whole.problems.length > maxItemProblems || ![...wrong].every(mayDrop)) return refusal;
  const rest = Object.entries(fields).filter(([name]) => Object.hasOwn(shape, name) && !wrong.has(name));
  const again = readFields(operation, Object.fromEntries(rest), [], params);
  if (again.value === undefined) return refusal;
  return { value: again.value, problems: [], dropped: whole.problems, valid: again.valid };
};

/** Without its `external_id`, an item would be of another record. */
const kept: ReadonlySet<string> = new Set(['external_id']);

/** Bounds the answer: each problem may repeat a long name. */
const maxItemProblems = 20;
