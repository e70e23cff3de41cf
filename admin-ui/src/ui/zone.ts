import { kept } from './kept.ts';

export const zoneChoices = ['local', 'utc'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];

const keptZone = kept('causeway.zone');

/** Whose time zone the dates are in, until the page is loaded again. */
export const chosenZone: ZoneChoice = zoneChoices.find((one) => one === keptZone.read()) ?? 'local';

/** Loads the page again, so that no time of the zone before is left. */
export const chooseZone = (choice: ZoneChoice): void => {
  keptZone.write(choice);
  location.reload();
};

/** The IANA name. */
export const zoneOf = (choice: ZoneChoice): string =>
  choice === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

let shown: string | undefined;

/** Stays the same though the device travels, as the formatters do. */
export const zone = (): string => (shown ??= zoneOf(chosenZone));

/** `Buenos Aires` for `America/Argentina/Buenos_Aires`. */
export const cityOf = (name: string): string => (name.split('/').at(-1) ?? name).replaceAll('_', ' ');

/** `2026-01-15T09:30`, what clocks in the zone show, as an input element of times requires. */
export const wallTime = (time: string, timeZone: string = zone()): string => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : wallClock(date.getTime(), timeZone);
};

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Swedish writes times as ISO 8601 does. */
const wallClock = (timeMs: number, timeZone: string): string => {
  const clock =
    clocks.get(timeZone) ??
    new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return clock.format(timeMs).replace(' ', 'T');
};

/** The time at which clocks in the zone show this; one that they skip in spring is an hour later. */
export const timeAt = (wall: string, timeZone: string = zone()): string => {
  const asUtc = Date.parse(`${wall}Z`);
  const offsetAt = (timeMs: number): number =>
    Date.parse(`${wallClock(timeMs, timeZone)}Z`) - Math.floor(timeMs / 60_000) * 60_000;
  const guess = asUtc - offsetAt(asUtc);
  return new Date(asUtc - offsetAt(guess)).toISOString();
};

/** The dates of the latest days, as `2026-01-15`, today last. */
export const latestDays = (count: number): readonly string[] => {
  const today = Date.parse(wallTime(new Date().toISOString()).slice(0, 10));
  return Array.from({ length: count }, (_, at) => dateOf(today - (count - 1 - at) * dayMs));
};

/** When each of the dates begins, which come one after the other, and when the last ends. */
export const beginningsOf = (dates: readonly string[], timeZone: string = zone()): readonly string[] =>
  [...dates, dateOf(Date.parse(dates.at(-1) ?? '') + dayMs)].map((date) => timeAt(`${date}T00:00`, timeZone));

const dayMs = 86_400_000;
const dateOf = (utcMs: number): string => new Date(utcMs).toISOString().slice(0, 10);
