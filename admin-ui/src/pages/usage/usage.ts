import { operationQuery } from '../../model/client.ts';
import { anyNumber, anyText, oneOf, searchOf } from '../../model/search.ts';
import { beginningsOf, latestDays } from '../../ui/zone.ts';

export const usageSearch = searchOf({
  day: anyText,
  key: anyNumber,
  only: oneOf(['refused', 'failed']),
  page: anyNumber,
});

/** For so long the request log is kept. */
export const keptDays = 7;

/** @returns the days that are kept, which of them the page shows, newest first, and the query of each shown. */
export const usageDays = ({ day, key, only }: ReturnType<typeof usageSearch>) => {
  const dates = latestDays(keptDays);
  const begins = beginningsOf(dates);
  const at = dates.indexOf(day ?? '');
  const shown = at === -1 ? dates.keys().toArray().toReversed() : [at];
  const queries = shown.map((day) => ({
    ...operationQuery('listUsage', {
      query: { since: begins[day], until: begins[day + 1], keyId: key, only },
    }),
    // Former days are over.
    refetchInterval: day === keptDays - 1 && (30_000 as const),
  }));
  return { dates, begins, at, shown, queries };
};
