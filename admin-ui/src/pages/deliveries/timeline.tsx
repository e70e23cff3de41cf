import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import type { Answer } from '../../api/types.ts';
import { milliseconds } from '../../ui/format.ts';
import { Quiet } from '../../ui/layout.tsx';
import { ClockTime, Moment, TimeAgo, useNow } from '../../ui/time-ago.tsx';
import { StatusBadge } from './attempt/attempt-view.tsx';
import { causeOf } from './attempt/causes.ts';
import { nextProbeOf } from './states.ts';
import s from './timeline.module.css';

type Delivery = Answer<'getDelivery'>;

interface TimelineProps {
  readonly delivery: Delivery;
  readonly chosen: number | undefined;
  readonly onChoose: (attempt: number) => void;
}

/** The attempts in order, and what comes next. */
export function Timeline({ delivery, chosen, onChoose }: TimelineProps) {
  return (
    <ol className={s.list}>
      {delivery.history.map((one) => {
        const cause = causeOf(one);
        return (
          <li key={one.attempt} className={clsx(s.item, one.errorClass === null ? s.good : s.bad)}>
            <button
              type="button"
              className={s.attempt}
              aria-pressed={one.attempt === chosen}
              onClick={() => onChoose(one.attempt)}
            >
              <span className={s.number}>
                <span className="visually-hidden">Attempt </span>
                {one.attempt}
              </span>
              <StatusBadge attempt={{ ...one, success: one.errorClass === null }} />
              <span className={s.text}>{cause ? cause.title : 'Delivered'}</span>
              <Quiet small>{milliseconds(one.elapsedMs)}</Quiet>
              <Quiet small>
                <ClockTime time={one.startedUtc} />
              </Quiet>
            </button>
          </li>
        );
      })}
      <Next delivery={delivery} />
    </ol>
  );
}

function Next({ delivery }: { readonly delivery: Delivery }) {
  const { state, dueUtc, attempts } = delivery;
  const now = useNow();
  if (state === 'succeeded') return null;
  const probeUtc = nextProbeOf(delivery);
  const nextUtc = probeUtc ?? dueUtc;
  return (
    <li className={clsx(s.item, s.next)}>
      {state === 'waiting' &&
        (nextUtc === null || (probeUtc === null && attempts === 0) ? (
          'The first attempt is about to start.'
        ) : new Date(nextUtc).getTime() <= now ? (
          'Waits for its turn.'
        ) : (
          <>
            {probeUtc === null
              ? 'Next attempt '
              : 'Waits for the endpoint, which is failing and gets one attempt at a time: the next '}
            <TimeAgo time={nextUtc} />{' '}
            <Quiet small>
              (<Moment time={nextUtc} />)
            </Quiet>
          </>
        ))}
      {state === 'held' && <Held delivery={delivery} />}
      {state === 'failed' && 'Failed after the last attempt. Resend it when the receiver works again.'}
      {state === 'dropped' && 'Discarded. Resend it to deliver it.'}
    </li>
  );
}

function Held({ delivery: { subscription, subscriptionId } }: { readonly delivery: Delivery }) {
  if (subscription === null) return 'Held. Its subscription was deleted.';
  if (subscription.enabled) return 'Held since its subscription was disabled. Release it to deliver it.';
  return (
    <>
      Held because its subscription is disabled.{' '}
      <Link to="/subscriptions/$id" params={{ id: subscriptionId }} search={{ dialog: 'repair' }}>
        Repair subscription
      </Link>
    </>
  );
}
