import type { Log, Metrics } from '@causeway/runtime';
import type { Finished } from '../record/finished.ts';

/**
 * Tells logs and metrics of attempts: one wide line each at debug; failed ones at info too, some a second, as a
 * dispatcher makes thousands and a receiver that is down fails them all.
 */
export const createTeller = ({ log, metrics, nowMs }: TellerOptions): ((finished: Finished) => void) => {
  const attempts = metrics?.counter('dispatcher_attempts_total', 'Attempts by how they ended', ['outcome']);
  const took = metrics?.timing('dispatcher_attempt_seconds', 'How long attempts took');
  let windowMs = 0;
  let told = 0;
  let untold = 0;

  return (finished) => {
    const { job, result, decision, span } = finished;
    if (attempts) attempts.cell(result.errorClass ?? 'succeeded').value++;
    took?.observe(result.elapsedMs);
    const fails = decision.outcome !== 'succeeded';
    if (!fails && !log.isLevelEnabled('debug')) return;
    if (nowMs() - windowMs >= 1_000) {
      windowMs = nowMs();
      if (untold > 0) log.info({ attempts: untold }, 'more attempts failed');
      told = 0;
      untold = 0;
    }
    if (fails && told >= toldPerSecond && !log.isLevelEnabled('debug')) {
      untold++;
      return;
    }
    if (fails) told++;
    log[fails ? 'info' : 'debug'](
      {
        company_id: job.company_id,
        event_id: job.event_id,
        subscription_id: job.subscription_id,
        ...(job.replay_id > 0 ? { replay_id: job.replay_id } : {}),
        type: job.event_type,
        attempt: job.attempt,
        lane: job.lane,
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

const toldPerSecond = 10;

export interface TellerOptions {
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly nowMs: () => number;
}
