import { useSyncExternalStore } from 'react';
import { absolute, absoluteMinute, preciseTime, relative, relativeMinutes } from './format.ts';

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

/** A time in full. */
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
