import type { Log, Metrics } from '@causeway/runtime';
import { dispatcherMetrics } from '../metrics.ts';
import type { Finished } from '../record/finished.ts';

/**
 * Logs and counts attempts. Each is one line at debug; failed ones are logged at info, up to a fixed number per
 * second because a receiver that is down fails thousands.
 */
export const createAttemptLog = ({
  log,
  metrics,
  nowMs,
}: AttemptLogOptions): ((finished: Finished) => void) => {
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

export interface AttemptLogOptions {
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly nowMs: () => number;
}
