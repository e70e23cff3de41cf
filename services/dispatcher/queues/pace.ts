/** Attempts that a queue was granted: until when they were, in milliseconds of MySQL's clock, and how many. */
export type GrantLog = readonly (readonly [untilMs: number, count: number])[];

export interface Pace {
  readonly limit: number;
  readonly seconds: number;
}

interface Grant {
  readonly count: number;
  /** If the count is 0: when the next attempt may be granted. */
  readonly nextMs: number;
}

/**
 * How many attempts may be granted now (contract, "Pace, pause and headers"). Each begins within `slackMs` after its grant,
 * or is given back; so attempts of two grants that are further apart than the window and the slack are in no window together.
 * A pace per minute is spread over it, because its receiver should not get all of it in a second.
 */
export const grantOf = (log: GrantLog, pace: Pace, nowMs: number): Grant => {
  const windowMs = pace.seconds * 1_000;
  const past = log.filter(isNotAhead(pace, nowMs));
  const rules = [{ lastMs: windowMs + slackMs(pace), limit: pace.limit }];
  if (windowMs > secondMs) {
    const lastMs = Math.max(secondMs, windowMs / pace.limit);
    rules.push({ lastMs, limit: Math.ceil((pace.limit * lastMs) / windowMs) });
  }
  const grants = rules.map(({ lastMs, limit }) => {
    const counted = past.filter(([untilMs]) => untilMs > nowMs - lastMs);
    const count = Math.max(0, limit - counted.reduce((sum, [, one]) => sum + one, 0));
    const first = Math.min(...counted.map(([untilMs]) => untilMs));
    return { count, nextMs: count > 0 ? nowMs : first + lastMs };
  });
  return {
    count: Math.min(...grants.map(({ count }) => count)),
    nextMs: Math.max(...grants.map(({ nextMs }) => nextMs)),
  };
};

/** @returns the log with the grant, without what no longer counts. Grants of a hundredth of the window are one entry. */
export const withGrant = (log: GrantLog, pace: Pace, nowMs: number, count: number): GrantLog => {
  const windowMs = pace.seconds * 1_000;
  const step = windowMs / 100;
  const untilMs = Math.ceil(nowMs / step) * step;
  const before = log
    .filter(isNotAhead(pace, nowMs))
    .filter(([at]) => at > nowMs - windowMs - slackMs(pace) && at !== untilMs);
  const same = log.find(([at]) => at === untilMs)?.[1] ?? 0;
  return [...before, [untilMs, same + count]];
};

/** A grant that is later than that is of a clock that went back since, as after a failover. It no longer counts. */
const isNotAhead =
  ({ seconds }: Pace, nowMs: number) =>
  ([untilMs]: GrantLog[number]): boolean =>
    untilMs <= nowMs + seconds * 1_000;

/** Reading the delivery and signing it take some milliseconds of it. */
export const slackMs = ({ seconds }: Pace): number => (seconds === 1 ? 200 : 2_000);

const secondMs = 1_000;
