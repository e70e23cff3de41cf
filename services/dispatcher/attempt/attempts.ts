import { deliveryHeaders, withOwnHeaders } from '@causeway/proto/signatures';
import type { Context } from '../context.ts';
import { type AttemptedDelivery, type Delivery, hasNoRow, idsOf } from '../delivery.ts';
import type { Poster } from '../http/post.ts';
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
  const { random, log, metrics } = options;
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
  const post = async (delivery: Delivery): Promise<AttemptedDelivery | undefined> => {
    const { attempt } = delivery;
    const { url } = delivery.target;
    const signed = await signer.sign(delivery);
    // Right before the post: nothing may take long in between.
    const isOurs = await isHeld(delivery);
    if (!isOurs || isPastGrant(delivery)) {
      if (!isOurs) notHeld.value++;
      recorder.giveBack([delivery]);
      return undefined;
    }
    const { timestamp, signatures, ownHeaders } = signed;
    const headers = withOwnHeaders(deliveryHeaders(delivery, timestamp, signatures), ownHeaders);
    const startedMs = now().getTime();
    if (attempt === 1 && delivery.source === 'first') lag.observe(startedMs - delivery.created_utc.getTime());
    const result = await poster.post({ url, headers, body: delivery.body });
    if (result.ownFault) {
      noteOwnFault(result.ownFault, delivery);
      return undefined;
    }
    const decision = decide(result, { attempt, scheduleMs, nowMs: now().getTime(), random: random() });
    const attempted = Object.assign(delivery, { startedMs, signed, result, decision });
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
      try {
        return await post(delivery);
      } catch (error) {
        // The delivery is due again when its lease ends. This does not count as a failure of the receiver.
        const why =
          error instanceof CannotSign ? 'signing a delivery failed' : 'an attempt failed unexpectedly';
        log.error({ error, ...idsOf(delivery) }, `${why}; it is due again when its lease ends`);
        return undefined;
      }
    },
  };
};

interface AttemptsOptions extends Pick<Context, 'now' | 'nowMs' | 'log' | 'metrics'> {
  readonly signer: Signer;
  readonly poster: Poster;
  readonly scheduleMs: readonly number[];
  /** An attempt must begin at least this long before its lease ends. */
  readonly lastStartMs: number;
  readonly holder: Pick<Holder, 'id' | 'isSure' | 'nextBeat'>;
  readonly recorder: Pick<Recorder, 'attempted' | 'giveBack' | 'isReady'>;
  readonly random: () => number;
}

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
    const { result, decision } = attempted;
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
