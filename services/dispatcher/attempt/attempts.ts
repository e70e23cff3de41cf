import { errorType, type Log, type Metrics, type Span, type Tracer } from '@causeway/runtime';
import type { Poster, PostResult } from '../http/post.ts';
import { hasNoRow, type Job } from '../job.ts';
import type { Holder } from '../leases/holder.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { CannotSign, type Signer } from '../sign/signer.ts';
import { type Decision, decide } from './decide.ts';
import { startDelivery, tracedPost } from './tracing.ts';

/** Makes one attempt. Resolves to undefined if nothing was sent. */
type Attempt = (job: Job) => Promise<Finished | undefined>;

/** Signs each attempt right before sending it, then applies the retry rules to its result. Never throws. */
export const createAttempts = (options: AttemptsOptions): Attempt => {
  const { signer, poster, scheduleMs, lastStartMs, holder, giveBack, now, random, log, metrics, tracer } =
    options;
  const logAttempt = createAttemptLog({ log, metrics, nowMs: () => performance.now() });
  const late = metrics?.counter(dispatcherMetrics.dispatcher_too_late_total).cell();
  const notHeld = metrics?.counter(dispatcherMetrics.dispatcher_not_held_total).cell();
  const lag = metrics?.timing(dispatcherMetrics.dispatcher_first_attempt_lag_seconds);

  const isTooLate = (job: Job): boolean => {
    const nowMs = now().getTime();
    // A process that was frozen past the lease of an event no longer has it.
    const isLost = hasNoRow(job) && job.event!.leaseMs <= nowMs;
    return isLost || job.leaseMs - nowMs < lastStartMs;
  };
  /**
   * Waits if this process may have been given up; then it knows. A delivery without a row is leased by its event: that
   * lease is so short that it may have ended while a starved process signed.
   */
  const isHeld = async (job: Job): Promise<boolean> => {
    while (!holder.isSure()) {
      await holder.nextBeat();
      if (isTooLate(job)) return false;
    }
    return hasNoRow(job) ? !isTooLate(job) : job.holder === holder.id();
  };

  return async (job) => {
    const { target, body, attempt } = job;
    if (isTooLate(job)) {
      if (late) late.value++;
      return undefined;
    }
    const span = startDelivery(tracer, job);
    try {
      const headers = await signer.sign(job);
      // Right before the post: nothing may take long in between.
      if (!(await isHeld(job))) {
        if (notHeld) notHeld.value++;
        span?.end();
        giveBack([job]);
        return undefined;
      }
      const startedMs = now().getTime();
      if (attempt === 1 && job.source === 'first') lag?.observe(startedMs - job.created_utc.getTime());
      const { url } = target;
      const result = await tracedPost(tracer, [span], { url, attempt }, () =>
        poster.post({ url, headers, body }),
      );
      const decision = decide(result, { attempt, scheduleMs, nowMs: now().getTime(), random: random() });
      const finished = { job, startedMs, result, decision, span };
      logAttempt(finished);
      return finished;
    } catch (error) {
      // The delivery is due again when its lease ends. This does not count as a failure of the receiver.
      const { company_id, event_id, subscription_id } = job;
      const why =
        error instanceof CannotSign ? 'a delivery cannot be signed' : 'an attempt failed unexpectedly';
      log.error({ error, company_id, event_id, subscription_id }, why);
      span?.fail(errorType(error));
      span?.end();
      return undefined;
    }
  };
};

interface AttemptsOptions {
  readonly signer: Signer;
  readonly poster: Poster;
  readonly scheduleMs: readonly number[];
  /** An attempt must begin at least this long before its lease ends. */
  readonly lastStartMs: number;
  readonly holder: Pick<Holder, 'id' | 'isSure' | 'nextBeat'>;
  /** Makes deliveries due in their queues. */
  readonly giveBack: (jobs: readonly Job[]) => void;
  readonly now: () => Date;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
}

/**
 * Logs and counts attempts. Each is one line at debug; failed ones are logged at info, up to a fixed number per
 * second because a receiver that is down fails thousands.
 */
const createAttemptLog = ({ log, metrics, nowMs }: AttemptLogOptions): ((finished: Finished) => void) => {
  const attempts = metrics?.counter(dispatcherMetrics.dispatcher_attempts_total);
  const took = metrics?.timing(dispatcherMetrics.dispatcher_attempt_seconds);
  let secondMs = 0;
  let logged = 0;
  let skipped = 0;

  return (finished) => {
    const { job, result, decision, span } = finished;
    if (attempts) attempts.cell(result.errorClass ?? 'succeeded').value++;
    took?.observe(result.elapsedMs);
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
        company_id: job.company_id,
        event_id: job.event_id,
        subscription_id: job.subscription_id,
        ...(job.replay_id > 0 ? { replay_id: job.replay_id } : {}),
        type: job.event_type,
        attempt: job.attempt,
        source: job.source,
        probe: job.probe,
        outcome: decision.outcome,
        status: result.statusCode,
        errorClass: result.errorClass,
        elapsedMs: result.elapsedMs,
        ...(span && { traceparent: span.traceparent }),
        ...(decision.outcome === 'retry' ? { next: new Date(decision.dueMs).toISOString() } : {}),
      },
      fails ? 'attempt failed' : 'delivered',
    );
  };
};

const loggedPerSecond = 10;

interface AttemptLogOptions {
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly nowMs: () => number;
}

/** An attempt that was made, and the decision about its delivery. */
export interface Finished {
  readonly job: Job;
  readonly startedMs: number;
  readonly result: PostResult;
  readonly decision: Decision;
  /** Open until it is recorded. */
  readonly span?: Span | undefined;
}
