import type { z } from 'zod';
import { harmlessSchema, withSampleIds } from './events/shared.ts';
import { affiliateCreated } from './events/types/affiliate-created.ts';
import { agreementSigned } from './events/types/agreement-signed.ts';
import { clientCreated } from './events/types/client-created.ts';
import { clientStatusChanged } from './events/types/client-status-changed.ts';
import { documentUploaded } from './events/types/document-uploaded.ts';
import { invoiceCreated } from './events/types/invoice-created.ts';
import { invoiceStatusChanged } from './events/types/invoice-status-changed.ts';
import { leadCreated } from './events/types/lead-created.ts';
import { paymentFailed } from './events/types/payment-failed.ts';
import { paymentSucceeded } from './events/types/payment-succeeded.ts';

export { harmlessSchema };

/** In the order of the documentation. */
const definitions = [
  clientCreated,
  clientStatusChanged,
  leadCreated,
  invoiceCreated,
  invoiceStatusChanged,
  paymentSucceeded,
  paymentFailed,
  affiliateCreated,
  documentUploaded,
  agreementSigned,
] as const;

type Definitions = typeof definitions;
export type EventType = Definitions[number]['type'];

export const eventTypes = definitions.map(({ type }) => type) as unknown as TypesOf<Definitions>;
type TypesOf<List extends readonly { readonly type: string }[]> = {
  readonly [At in keyof List]: List[At]['type'];
};

export const eventDefinitions = Object.fromEntries(
  definitions.map((definition) => [definition.type, definition]),
) as unknown as { readonly [One in Definitions[number] as One['type']]: One };

export type EventPayload<Type extends EventType> = z.output<(typeof eventDefinitions)[Type]['payload']>;

/** No record has its ids, so a receiver that stores the sample changes none. */
export const samplePayload = <Type extends EventType>(type: Type, now: Date): EventPayload<Type> =>
  withSampleIds(eventDefinitions[type].sample(now.toISOString())) as EventPayload<Type>;

const knownTypes: ReadonlySet<string> = new Set(eventTypes);
export const isEventType = (text: string): text is EventType => knownTypes.has(text);

/** Largest payload of an event, in bytes of its compact JSON in UTF-8 (contract, "Rate limits"). */
export const maxPayloadBytes = 262_144;
