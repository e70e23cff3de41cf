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

export const text = z.string();
export const textOrNone = text.nullable();
export const amount = z.number().meta({ description: 'In units of the currency, such as 129.5.' });
export const currency = text.meta({ description: 'ISO 4217, such as `USD`.' });
export const employeeOrNone = id.nullable().meta({ description: 'ID of the employee who did it, if known.' });

export const personCreated = z.object({
  client_id: id,
  first_name: text,
  last_name: text,
  email: text,
  phone: text.meta({ description: 'Empty if the record has none.' }),
  status: text,
  created_date: instant,
});

export const payment = z.object({
  payment_id: id,
  client_id: id,
  invoice_id: id.nullable(),
  amount,
  currency,
  payment_method: text,
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
