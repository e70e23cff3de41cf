import { eventStream } from '@causeway/proto';
import { type Span, type Tracer, traced } from '@causeway/runtime';
import type { PostResult } from '../http/post.ts';
import type { Job } from '../job.ts';

/**
 * Starts the span of a delivery, which ends when its attempt is recorded. A first attempt continues the trace of the
 * event's cause. A retry may run hours later, so it starts its own trace; both carry the event's id.
 */
export const startDelivery = (tracer: Tracer | undefined, job: Job): Span | undefined =>
  tracer?.start('deliver event', {
    kind: 'consumer',
    parents: [job.event?.traceparent],
    root: job.source === 'queue',
    attributes: {
      ...(job.source === 'first' && {
        'messaging.system': 'nats',
        'messaging.destination.name': eventStream,
      }),
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.message.id': String(job.event_id),
      'causeway.event.type': job.event_type,
      'causeway.company.id': job.company_id,
      'causeway.subscription.id': job.subscription_id,
      'causeway.delivery.attempt': job.attempt,
    },
  });

/**
 * Wraps a post in a client span with OpenTelemetry's HTTP attributes. @param attempt number of the attempt, from 1.
 */
export const tracedPost = (
  tracer: Tracer | undefined,
  parents: readonly (Span | undefined)[],
  { url, attempt }: { readonly url: string; readonly attempt: number },
  post: () => Promise<PostResult>,
): Promise<PostResult> => {
  if (!tracer) return post();
  const attributes = {
    'http.request.method': 'POST',
    ...targetOf(url),
    ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
  };
  return traced(tracer, 'POST', { kind: 'client', parents, attributes }, async (span) => {
    const result = await post();
    span?.set({
      'http.response.status_code': result.statusCode ?? undefined,
      'network.peer.address': result.address ?? undefined,
    });
    if (result.errorClass !== null)
      span?.fail(result.statusCode ? String(result.statusCode) : result.errorClass);
    return result;
  });
};

/** Attributes name the host only: a receiver's path or query is often a secret. */
const targetOf = (url: string) => {
  const target = URL.parse(url);
  if (!target) return {};
  const { protocol, host, hostname, port } = target;
  return {
    'url.full': `${protocol}//${host}/REDACTED`,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
};
