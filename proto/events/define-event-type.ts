import type { z } from 'zod';

/** Defines an event type. Its file in `types/` is the only place that describes it; `events.ts` lists them. */
export const defineEventType = <const Type extends `${string}.${string}`, Payload extends z.ZodObject>(
  definition: EventDefinition<Type, Payload>,
): EventDefinition<Type, Payload> => definition;

interface EventDefinition<Type extends string, Payload extends z.ZodObject> {
  readonly type: Type;
  /** What the portal calls it. */
  readonly title: string;
  /** What happened, in one sentence of the portal. */
  readonly description: string;
  /** The schema is open: a field may be added, and receivers ignore fields they do not know (contract, "Events"). */
  readonly payload: Payload;
  /** Placeholder data for test deliveries, test events and the documentation. @param now an ISO 8601 instant. */
  readonly sample: (now: string) => z.output<Payload>;
}
