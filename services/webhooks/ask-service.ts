import { problem } from '@causeway/proto';
import { type Bus, type Tracer, tracedAsk } from '@causeway/runtime';
import { NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';

/**
 * One NATS request with a JSON body to whoever of a service's replicas takes it.
 * @param deadlineMs `performance.now()` after which nobody waits any more.
 * @throws Problem `service_unavailable` where nobody listens, `timeout` where nobody answered in time: then it
 * may have been done.
 */
export const askService = async <Answer>(
  { bus, tracer }: { readonly bus: Bus; readonly tracer: Tracer | undefined },
  subject: string,
  body: unknown,
  deadlineMs: number,
): Promise<Answer> => {
  // Without a connection, a request would wait for its whole time.
  if (!bus.connected()) throw problem('service_unavailable');
  const timeout = Math.floor(deadlineMs - performance.now() - marginMs);
  if (timeout < 1) throw problem('timeout');
  try {
    const answer = await tracedAsk(tracer, subject, (headers) =>
      bus.nc.request(subject, JSON.stringify(body), { timeout, ...(headers && { headers }) }),
    );
    return answer.json<Answer>();
  } catch (error) {
    if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders()))
      throw problem('service_unavailable', error);
    if (error instanceof TimeoutError) throw problem('timeout', error);
    throw error;
  }
};

/** So that the caller hears of it in time. */
const marginMs = 100;
