import clsx from 'clsx';
import { type ReactNode, useSyncExternalStore } from 'react';
import badgeCss from './badge.module.css';
import cutCss from './cut.module.css';
import {
  formatClockSeconds,
  formatDateTime,
  formatRelative,
  formatRelativeMinutes,
  number,
  share,
} from './format.ts';
import healthBarCss from './health-bar.module.css';
import { serverNow } from './reachability.ts';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

interface BadgeProps {
  readonly tone?: Tone;
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

type StateBadgeProps = Pick<BadgeProps, 'title'> & { readonly tone: Tone; readonly label: string };

export function StateBadge({ tone, label, title }: StateBadgeProps) {
  return (
    <Badge tone={tone} dot title={title}>
      {label}
    </Badge>
  );
}

/** Cut off where the room ends, in either writing direction; hovering or focusing shows all of it. */
export function Cut({ text, strong }: { readonly text: string; readonly strong?: boolean }) {
  return (
    <bdi className={clsx(cutCss.cut, strong && cutCss.strong)} data-tip={text} data-tip-cut>
      {text}
    </bdi>
  );
}

interface HealthBarProps {
  readonly succeeded: number;
  readonly failed: number;
}

export function HealthBar({ succeeded, failed }: HealthBarProps) {
  const total = succeeded + failed;
  if (total === 0) return <span className={healthBarCss.none}>No attempts</span>;
  return (
    <span
      className={healthBarCss.health}
      data-tip={`${number(succeeded)} succeeded, ${number(failed)} failed`}
    >
      <span className={healthBarCss.bar} style={{ width: '4.5rem' }} aria-hidden="true">
        {succeeded > 0 && <span className={healthBarCss.good} data-mark style={{ flexGrow: succeeded }} />}
        {failed > 0 && <span className={healthBarCss.bad} data-mark style={{ flexGrow: failed }} />}
      </span>
      <span className={healthBarCss.share}>{share(succeeded, total)}</span>
    </span>
  );
}

/** One clock for the whole page; it stops while no component uses it. */
let now = serverNow();
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
  now = serverNow();
  for (const listener of listeners) listener();
};

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

interface TimeProps {
  /** ISO 8601. */
  readonly time: string;
}

/** Hovering shows it in full (`tips.ts`). */
const timeElement = (time: string, text: string) => <time dateTime={time}>{text}</time>;

/** The shared clock triggers the next render; a time that has just passed is never shown as future. */
const useNowOrLater = (): number => Math.max(useNow(), serverNow());

/** A time relative to now. */
export const TimeAgo = ({ time }: TimeProps) =>
  timeElement(time, formatRelative(Date.parse(time), useNowOrLater()));

/** A time known only to the minute, relative to now. */
export const MinuteAgo = ({ time }: TimeProps) =>
  timeElement(time.replace(/:\d\d(\.\d+)?Z$/, 'Z'), formatRelativeMinutes(Date.parse(time), useNowOrLater()));

export const Moment = ({ time }: TimeProps) => timeElement(time, formatDateTime(time));

export const ClockTime = ({ time }: TimeProps) => timeElement(time, formatClockSeconds(time));
