import { z } from 'zod';
import { id, instant } from '../schemas/values.ts';

export const defineEventType = <const Type extends `${string}.${string}`, Payload extends z.ZodObject>(
  definition: EventDefinition<Type, Payload>,
): EventDefinition<Type, Payload> => definition;

interface EventDefinition<Type extends string, Payload extends z.ZodObject> {
  readonly type: Type;
  readonly title: string;
  readonly description: string;
  /** The schema is open: a field may be added, and receivers ignore fields they do not know (contract, "Events"). */
  readonly payload: Payload;
  readonly sample: (now: string) => z.output<Payload>;
}

/** The payload of an event about a person who was erased (contract, "Erasure"). */
export const erasedPayloadSchema = z.object({
  client_id: id,
  erased: z
    .literal(true)
    .meta({ description: 'Only for an erased person, of whom the event tells nothing else.' }),
});

/** Beyond every id that a record gets, and within the integers that JSON carries exactly. */
export const sampleId = (id: number): number => 9_000_000_000_000_000 + id;

export const withSampleIds = (sample: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [
      name,
      /(?:^|_)id$/.test(name) && typeof value === 'number' ? sampleId(value) : value,
    ]),
  );

const harmlessFields = new WeakSet<z.ZodType>();

/** Marks a field that holds no personal data: viewers of the portal and strangers with a link to a delivery see it. */
export const harmless = <Schema extends z.ZodType>(schema: Schema): Schema => {
  harmlessFields.add(schema);
  return schema;
};

/** The schema of a field that is marked as harmless, without null. */
export const harmlessSchema = (schema: z.ZodType): z.ZodType | undefined => {
  if (harmlessFields.has(schema)) return schema;
  return schema instanceof z.ZodNullable ? harmlessSchema(schema.unwrap() as z.ZodType) : undefined;
};

export const recordId = harmless(id);
/** When something happened. */
export const time = harmless(instant);
export const text = z.string();
export const textOrNone = text.nullable();
/** A name that is no person's, such as that of a status. */
export const label = harmless(z.string());
export const amount = harmless(z.number().meta({ description: 'In units of the currency, such as 129.5.' }));
export const currency = harmless(label.meta({ description: 'ISO 4217, such as `USD`.' }));
export const employeeOrNone = recordId
  .nullable()
  .meta({ description: 'ID of the employee who did it, if known.' });

export const personCreated = z.object({
  client_id: recordId,
  first_name: text,
  last_name: text,
  email: text,
  phone: text.meta({ description: 'Empty if the record has none.' }),
  status: label,
  created_date: time,
});

export const payment = z.object({
  payment_id: recordId,
  client_id: recordId,
  invoice_id: recordId.nullable(),
  amount,
  currency,
  payment_method: label,
});

export const samplePerson = {
  client_id: 1042,
  first_name: 'Katherine',
  last_name: 'Johnson',
  email: 'katherine@example.com',
  phone: '+1 555 010 4477',
};
export const samplePayment = {
  payment_id: 7001,
  client_id: 1042,
  invoice_id: 3001,
  amount: 129.5,
  currency: 'USD',
};
