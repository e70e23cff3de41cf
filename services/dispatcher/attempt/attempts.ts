import { eventStream } from '@causeway/proto';
import { deliveryHeaders, withOwnHeaders } from '@causeway/proto/signatures';
import { errorType, type Span, type Tracer, traced } from '@causeway/runtime';
import type { Context } from '../context.ts';
import { type AttemptedDelivery, type Delivery, hasNoRow } from '../delivery.ts';
import type { Poster, PostResult } from '../http/post.ts';
import type { Holder } from '../leases/holder.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Recorder } from '../record/recorder.ts';
import { CannotSign, type Signer } from '../sign/signer.ts';
import { decide } from './decide.ts';

export interface Attempts {
  /** Never throws. @returns undefined if it says nothing about the receiver. */
  make(delivery: Delivery): Promise<AttemptedDelivery | undefined>;
  mayBegin(): boolean;
}

export const createAttempts = (options: AttemptsOptions): Attempts => {
  const { signer, poster, scheduleMs, lastStartMs, holder, recorder, now, nowMs } = options;
  const { random, log, metrics, tracer } = options;
  const logAttempt = createAttemptLog({ log, metrics, nowMs: () => performance.now() });
  const noteOwnFault = createOwnFaultLog(options);
  const notHeld = metrics.counter(dispatcherMetrics.dispatcher_not_held_total).cell();
  const lag = metrics.timing(dispatcherMetrics.dispatcher_first_attempt_lag_seconds);

  const isTooLate = (delivery: Delivery): boolean => {
    const nowMs = now().getTime();
    // A process that was frozen past the lease of an event no longer has it.
    const isLost = hasNoRow(delivery) && delivery.event!.leaseMs <= nowMs;
    return isLost || delivery.leaseMs - nowMs < lastStartMs;
  };
  /**
   * Until the next beat, the other dispatchers may have given this process up. A delivery without a row has
   * only its event's short lease, which may have ended while a starved process signed.
   */
  const isHeld = async (delivery: Delivery): Promise<boolean> => {
    while (!holder.isSure()) {
      await holder.nextBeat();
      if (isTooLate(delivery)) return false;
    }
    return hasNoRow(delivery) ? !isTooLate(delivery) : delivery.holder === holder.id();
  };
  const isPastGrant = ({ startBeforeMs = Infinity }: Delivery): boolean => nowMs() > startBeforeMs;
  const post = async (delivery: Delivery, span: Span | undefined): Promise<AttemptedDelivery | undefined> => {
    const { attempt } = delivery;
    const { url } = delivery.target;
    const signed = await signer.sign(delivery);
    // Right before the post: nothing may take long in between.
    const isOurs = await isHeld(delivery);
    if (!isOurs || isPastGrant(delivery)) {
      if (!isOurs) notHeld.value++;
      span?.end();
      recorder.giveBack([delivery]);
      return undefined;
    }
    const { timestamp, signatures, ownHeaders } = signed;
    const headers = withOwnHeaders(deliveryHeaders(delivery, timestamp, signatures), ownHeaders);
    const startedMs = now().getTime();
    if (attempt === 1 && delivery.source === 'first') lag.observe(startedMs - delivery.created_utc.getTime());
    const result = await tracedPost(tracer, [span], { url, attempt }, () =>
      poster.post({ url, headers, body: delivery.body }),
    );
    if (result.ownFault) {
      noteOwnFault(result.ownFault, delivery);
      span?.fail(result.errorClass ?? result.ownFault);
      span?.end();
      return undefined;
    }
    const decision = decide(result, { attempt, scheduleMs, nowMs: now().getTime(), random: random() });
    const attempted = Object.assign(delivery, { startedMs, signed, result, decision, span });
    logAttempt(attempted);
    recorder.attempted(attempted);
    return 'isUncounted' in decision ? undefined : attempted;
  };

  return {
    mayBegin: () => holder.isSure() && recorder.isReady(),
    make: async (delivery) => {
      if (isTooLate(delivery)) {
        if (hasNoRow(delivery)) recorder.giveBack([delivery]);
        return undefined;
      }
      const span = startSpan(tracer, delivery);
      try {
        return await post(delivery, span);
      } catch (error) {
        // The delivery is due again when its lease ends. This does not count as a failure of the receiver.
        const why =
          error instanceof CannotSign ? 'signing a delivery failed' : 'an attempt failed unexpectedly';
        log.error({ error, ...idsOf(delivery) }, `${why}; it is due again when its lease ends`);
        span?.fail(errorType(error));
        span?.end();
        return undefined;
      }
    },
  };
};

interface AttemptsOptions extends Pick<Context, 'now' | 'nowMs' | 'log' | 'metrics' | 'tracer'> {
  readonly signer: Signer;
  readonly poster: Poster;
  readonly scheduleMs: readonly number[];
  /** An attempt must begin at least this long before its lease ends. */
  readonly lastStartMs: number;
  readonly holder: Pick<Holder, 'id' | 'isSure' | 'nextBeat'>;
  readonly recorder: Pick<Recorder, 'attempted' | 'giveBack' | 'isReady'>;
  readonly random: () => number;
}

const idsOf = ({ company_id, event_id, subscription_id, replay_id }: Delivery) => ({
  companyId: company_id,
  eventId: event_id,
  subscriptionId: subscription_id,
  ...(replay_id > 0 && { replayId: replay_id }),
});

/** Failed attempts are logged up to a number per second, because a receiver that is down fails thousands. */
const createAttemptLog = ({
  log,
  metrics,
  nowMs,
}: Pick<AttemptsOptions, 'log' | 'metrics'> & { readonly nowMs: () => number }) => {
  const attempts = metrics.counter(dispatcherMetrics.dispatcher_attempts_total);
  const took = metrics.timing(dispatcherMetrics.dispatcher_attempt_seconds);
  let secondMs = 0;
  let logged = 0;
  let skipped = 0;

  return (attempted: AttemptedDelivery): void => {
    const { result, decision, span } = attempted;
    attempts.cell(result.errorClass ?? 'succeeded').value++;
    took.observe(result.elapsedMs);
    const fails = decision.outcome !== 'succeeded';
    if (!fails && !log.isLevelEnabled('debug')) return;
    if (nowMs() - secondMs >= 1_000) {
      secondMs = nowMs();
      if (skipped > 0) log.info({ attempts: skipped }, 'more attempts failed');
      logged = 0;
      skipped = 0;
    }
    if (fails && logged >= loggedPerSecond && !log.isLevelEnabled('debug')) {
      skipped++;
      return;
    }
    if (fails) logged++;
    log[fails ? 'info' : 'debug'](
      {
        ...idsOf(attempted),
        type: attempted.event_type,
        attempt: attempted.attempt,
        source: attempted.source,
        probe: attempted.probe,
        outcome: decision.outcome,
        status: result.statusCode,
        errorClass: result.errorClass,
        durationMs: result.elapsedMs,
        ...(span && { traceparent: span.traceparent }),
        ...(decision.outcome === 'retry' && { next: new Date(decision.dueMs).toISOString() }),
      },
      fails ? 'attempt failed' : 'delivered',
    );
  };
};

const loggedPerSecond = 10;

/** The delivery is due again when its lease ends, with the same number, and counts as no failure. */
const createOwnFaultLog = ({ log, metrics, nowMs }: Pick<AttemptsOptions, 'log' | 'metrics' | 'nowMs'>) => {
  const faults = metrics.counter(dispatcherMetrics.dispatcher_own_faults_total);
  let logMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (code: string, delivery: Delivery): void => {
    faults.cell(code).value++;
    if (nowMs() < logMs) return void unlogged++;
    logMs = nowMs() + logOwnFaultsMs;
    log.error({ code, unlogged, ...idsOf(delivery) }, 'attempt failed on our side');
    unlogged = 0;
  };
};

const logOwnFaultsMs = 1000;

/** The span ends when the attempt is recorded. A retry may run hours later, so it starts its own trace. */
const startSpan = (tracer: Tracer | undefined, delivery: Delivery): Span | undefined =>
  tracer?.start('deliver event', {
    kind: 'consumer',
    parents: [delivery.event?.traceparent],
    root: delivery.source === 'queue',
    attributes: {
      ...(delivery.source === 'first' && {
        'messaging.system': 'nats',
        'messaging.destination.name': eventStream,
      }),
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.message.id': String(delivery.event_id),
      'causeway.event.type': delivery.event_type,
      'causeway.company.id': delivery.company_id,
      'causeway.subscription.id': delivery.subscription_id,
      'causeway.delivery.attempt': delivery.attempt,
    },
  });

/** A client span with OpenTelemetry's HTTP attributes. */
export const tracedPost = (
  tracer: Tracer | undefined,
  parents: readonly (Span | undefined)[],
  { url, attempt }: { readonly url: string; readonly attempt: number },
  post: () => Promise<PostResult>,
): Promise<PostResult> => {
  if (!tracer) return post();
  const attributes = {
    'http.request.method': 'POST',
    ...urlAttributes(url),
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

/** The host only: a receiver's path or query is often a secret. */
const urlAttributes = (url: string) => {
  const target = URL.parse(url);
  if (!target) return {};
  const { protocol, host, hostname, port } = target;
  return {
    'url.full': `${protocol}//${host}/REDACTED`,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
};
