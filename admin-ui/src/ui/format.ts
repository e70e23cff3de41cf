import { cityOf, zone } from './zone.ts';

/** English words with the numbers and dates of the reader's region: `en-DE` writes 1.234,5. */
const locale = `en-${regionOf(navigator.language)}`;

function regionOf(language: string): string {
  try {
    const { region = new Intl.Locale(language).maximize().region } = new Intl.Locale(language);
    return region ?? 'US';
  } catch {
    return 'US';
  }
}

/** A formatter takes a slow device some 15 ms, so it is made when it is first needed. */
const onFirstUse = <Value>(make: () => Value): (() => Value) => {
  let made: Value | undefined;
  return () => (made ??= make());
};

const whole = onFirstUse(() => new Intl.NumberFormat(locale));
const compact = onFirstUse(
  () => new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }),
);
const percent = onFirstUse(
  () => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }),
);

export const number = (value: number): string =>
  Number.isInteger(value) && value >= 0 && value < 1000 ? String(value) : whole().format(value);
/** `#` stands for the number. */
export const plural = (count: number, one: string, other = `${one}s`): string =>
  (count === 1 ? one : other).replace('#', () => number(count));

export const shortNumber = (value: number): string =>
  value < 10_000 ? number(value) : compact().format(value);

/** `part` of `total` in per cent; 99.97 % is never shown as 100 %. */
export const share = (part: number, total: number): string => {
  if (total === 0) return '–';
  const ratio = part / total;
  return percent().format(ratio > 0.999 && ratio < 1 ? 0.999 : ratio);
};

export const milliseconds = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${fixed(ms / 1000, ms < 10_000 ? 2 : 1)} s`;
  return span(ms);
};

export const span = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.round(hours / 24);
  return plural(days, '# day');
};

export const bytes = (count: number): string =>
  count < 1024
    ? `${count} B`
    : count < 1024 ** 2
      ? `${fixed(count / 1024, 1)} KiB`
      : `${fixed(count / 1024 ** 2, 1)} MiB`;

const fixed = (value: number, digits: number): string =>
  value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });

const dates = (options: Intl.DateTimeFormatOptions) =>
  onFirstUse(() => new Intl.DateTimeFormat(locale, { hourCycle: 'h23', timeZone: zone(), ...options }));

const day = dates({ month: 'short', day: 'numeric' });
const clock = dates({ hour: '2-digit', minute: '2-digit' });
const clockSeconds = dates({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minuteOfYear: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit' },
};
const dateMinute = dates(minuteOfYear);
const dateTime = dates({ ...minuteOfYear, second: '2-digit' });

export const formatDateTime = (time: string | number): string => dateTime().format(new Date(time));
/** A time from the interface for a hint, with the zone and in UTC: to the minute if no more of it is known. */
export const formatFull = (time: string): string =>
  /:\d\d:/.test(time)
    ? `${formatDateTime(time)} (${cityOf(zone())})\n${new Date(time).toISOString()}`
    : formatDateMinute(time);
export const formatDateMinute = (time: string | number): string => dateMinute().format(new Date(time));
export const formatClock = (time: string | number): string => clock().format(new Date(time));
export const formatClockSeconds = (time: string | number): string => clockSeconds().format(new Date(time));
export const formatDay = (time: string | number): string => day().format(new Date(time));

const units = [
  ['# day', '# days', 86_400_000],
  ['# hr.', '# hr.', 3_600_000],
  ['# min.', '# min.', 60_000],
  ['# sec.', '# sec.', 1000],
] as const;

const minuteMs = 60_000;

/** Like `formatRelative`, for times known only to the minute: `this minute`, `1 min. ago`. */
export const formatRelativeMinutes = (time: number, now: number): string => {
  const minutes = Math.floor(now / minuteMs) - Math.floor(time / minuteMs);
  return minutes <= 0 ? 'this minute' : formatRelative(now - minutes * minuteMs, now);
};

export const formatRelative = (time: number, now: number): string => {
  const distance = time - now;
  if (Math.abs(distance) < 5000) return distance > 1000 ? 'in a moment' : 'just now';
  const [one, other, length] = units.find(([, , ms]) => Math.abs(distance) >= ms) ?? units[3];
  const text = plural(Math.trunc(Math.abs(distance) / length), one, other);
  if (text === '1 day') return distance > 0 ? 'tomorrow' : 'yesterday';
  return distance > 0 ? `in ${text}` : `${text} ago`;
};

export const commandKey = (): string => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl');

/** Whether the text contains every word of a search, in any order. */
export const hasWords = (text: string, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));

/** As one word of a shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
