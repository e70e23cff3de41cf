import { type DeliveryCommand, deliveryCommandSubject, problem } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import type { WebhooksContext } from './context.ts';

/**
 * @param deadlineMs `performance.now()` after which the caller no longer waits.
 * @throws Problem `service_unavailable` if no replica listens, `timeout` if none answered in time: the
 * request may have been carried out.
 */
export const askService = async <Answer>(
  { bus }: { readonly bus: Bus },
  subject: string,
  body: unknown,
  deadlineMs: number,
): Promise<Answer> => {
  // Without a connection, a request would wait for its whole timeout.
  if (!bus.connected()) throw problem('service_unavailable');
  const timeout = Math.floor(deadlineMs - performance.now() - marginMs);
  if (timeout < 1) throw problem('timeout');
  try {
    const answer = await bus.nc.request(subject, JSON.stringify(body), { timeout });
    return answer.json<Answer>();
  } catch (error) {
    if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders()))
      throw problem('service_unavailable', error);
    if (error instanceof TimeoutError) throw problem('timeout', error);
    throw error;
  }
};

/** Leaves time for the answer to reach the caller. */
const marginMs = 100;

/** Resolves when the first step is committed, or unknown in time: dispatchers also look for the row. */
export const askDispatcher = async (
  { bus, log }: Pick<WebhooksContext, 'bus' | 'log'>,
  command: DeliveryCommand,
): Promise<void> => {
  if (!bus.connected()) return;
  try {
    await bus.nc.request(deliveryCommandSubject, JSON.stringify(command), { timeout: timeoutMs });
  } catch (error) {
    log.debug({ error, ...command }, 'command not acknowledged');
  }
};

const timeoutMs = 2_000;
