import clsx from 'clsx';
import { type ReactNode, useSyncExternalStore } from 'react';
import badgeCss from './badge.module.css';
import cutCss from './cut.module.css';
import { absolute, absoluteMinute, number, preciseTime, relative, relativeMinutes, share } from './format.ts';
import healthBarCss from './health-bar.module.css';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

interface BadgeProps {
  readonly tone?: Tone;
  /** A small mark before the text, for states. */
  readonly dot?: boolean;
  readonly mono?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

export function Badge({ tone = 'neutral', dot, mono, title, children }: BadgeProps) {
  return (
    <span className={clsx(badgeCss.badge, badgeCss[tone], mono && badgeCss.mono)} data-tip={title}>
      {dot && <span className={badgeCss.dot} data-mark />}
      {children}
    </span>
  );
}

interface CutProps {
  readonly text: string;
  readonly strong?: boolean;
  readonly mono?: boolean;
}

/**
 * A text that people chose, on one line. It is cut off where the room ends, at its own end in either writing
 * direction; hovering or focusing shows all of it.
 */
export function Cut({ text, strong, mono }: CutProps) {
  return (
    <bdi
      className={clsx(cutCss.cut, strong && cutCss.strong, mono && cutCss.mono)}
      data-tip={text}
      data-tip-cut
    >
      {text}
    </bdi>
  );
}

interface HealthBarProps {
  readonly succeeded: number;
  readonly failed: number;
  readonly wide?: boolean;
}

export function HealthBar({ succeeded, failed, wide }: HealthBarProps) {
  const total = succeeded + failed;
  if (total === 0) return <span className={healthBarCss.none}>No attempts</span>;
  return (
    <span
      className={clsx(healthBarCss.health, wide && healthBarCss.wide)}
      data-tip={`${number(succeeded)} succeeded, ${number(failed)} failed`}
    >
      <span className={healthBarCss.bar} style={{ width: wide ? '100%' : '4.5rem' }} aria-hidden="true">
        {succeeded > 0 && <span className={healthBarCss.good} data-mark style={{ flexGrow: succeeded }} />}
        {failed > 0 && <span className={healthBarCss.bad} data-mark style={{ flexGrow: failed }} />}
      </span>
      <span className={healthBarCss.share}>{share(succeeded, total)}</span>
    </span>
  );
}

/** One clock for the whole page; it stops while no component uses it. */
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  if (timer === undefined) {
    timer = setInterval(tick, 5000);
    tick();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
};
const tick = (): void => {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
};

/** Milliseconds since the epoch, renewed every five seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** A time relative to now; hovering shows it in full, also in UTC. */
export function TimeAgo({ time }: { readonly time: string }) {
  // The shared clock triggers the next render; a time that has just passed is never shown as future.
  const at = useNow();
  const date = new Date(time);
  return (
    <time dateTime={time} title={`${absolute(time)}\n${date.toISOString()}`}>
      {relative(date.getTime(), Math.max(at, Date.now()))}
    </time>
  );
}

/** A time known only to the minute, relative to now. */
export function MinuteAgo({ time }: { readonly time: string }) {
  const at = useNow();
  const date = new Date(time);
  return (
    <time dateTime={time} title={absoluteMinute(time)}>
      {relativeMinutes(date.getTime(), Math.max(at, Date.now()))}
    </time>
  );
}

export function Moment({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} title={new Date(time).toISOString()}>
      {absolute(time)}
    </time>
  );
}

/** The time of day to the second; hovering shows the day too. */
export function ClockTime({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} title={`${absolute(time)}\n${new Date(time).toISOString()}`}>
      {preciseTime(time)}
    </time>
  );
}
