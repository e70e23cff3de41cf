export const zoneChoices = ['local', 'utc'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];

const key = 'causeway.zone';
let chosen: ZoneChoice | undefined;

/** Whose time zone the dates are in. The choice is kept in this browser. */
export const zoneChoice = (): ZoneChoice => (chosen ??= readChoice());

const readChoice = (): ZoneChoice => {
  try {
    const kept = localStorage.getItem(key);
    return zoneChoices.find((one) => one === kept) ?? 'local';
  } catch {
    return 'local';
  }
};

/** Loads the page again, so that no time of the zone before is left. */
export const chooseZone = (choice: ZoneChoice): void => {
  try {
    localStorage.setItem(key, choice);
  } catch {
    // Without storage, the browser's zone holds.
  }
  location.reload();
};

/** The IANA name. */
export const zoneOf = (choice: ZoneChoice): string =>
  choice === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

export const zone = (): string => zoneOf(zoneChoice());

/** `Buenos Aires` for `America/Argentina/Buenos_Aires`. */
export const cityOf = (name: string): string => (name.split('/').at(-1) ?? name).replaceAll('_', ' ');

/** `2026-01-15T09:30`, what clocks in the zone show, as an input element of times requires. */
export const wallTime = (time: string, timeZone: string = zone()): string => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : wallClock(date.getTime(), timeZone);
};

/** Swedish writes times as ISO 8601 does. */
const wallClock = (timeMs: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .format(timeMs)
    .replace(' ', 'T');

/** The time at which clocks in the zone show this; one that they skip in spring is an hour later. */
export const timeAt = (wall: string, timeZone: string = zone()): string => {
  const asUtc = Date.parse(`${wall}Z`);
  const offsetAt = (timeMs: number): number =>
    Date.parse(`${wallClock(timeMs, timeZone)}Z`) - Math.floor(timeMs / 60_000) * 60_000;
  const guess = asUtc - offsetAt(asUtc);
  return new Date(asUtc - offsetAt(guess)).toISOString();
};
