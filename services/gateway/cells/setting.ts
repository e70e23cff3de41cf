import { parseNatsUrl } from '@causeway/runtime';
import { z } from 'zod';

/** A cell as `CELLS` describes it. */
export interface CellSetting {
  readonly name: string;
  /** The NATS servers, as in `NATS_URL`. */
  readonly url: string;
  readonly ranges: readonly Range[];
  /** Companies named one by one: those that were moved here, or are about to be. */
  readonly companies: readonly number[];
}

/** Companies from `first` to `last`. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** The cells, separated by semicolons; each is `name companies urls`: `north 1-999999 nats://…;south 1000000-1999999,17 nats://…`. */
export const cells = () =>
  z.string().transform((text, context) => {
    const read = text.split(';').map((part) => readCell(part.trim()));
    const problem = read.includes(undefined)
      ? 'must be cells separated by semicolons, each a name, its companies as in 1-999,1017, and its NATS URLs'
      : conflictOf(read as readonly CellSetting[]);
    if (problem === undefined) return read as readonly CellSetting[];
    context.issues.push({ code: 'custom', input: '', message: problem });
    return z.NEVER;
  });

const readCell = (text: string): CellSetting | undefined => {
  const [name = '', companies = '', url = '', ...more] = text.split(/\s+/);
  if (more.length > 0 || !/^[a-z][a-z0-9-]{0,31}$/.test(name) || !isNatsUrl(url)) return undefined;
  const ranges: Range[] = [];
  const single: number[] = [];
  for (const item of companies.split(',')) {
    const [, first = '', last] = /^([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(item) ?? [];
    if (first === '' || Number(last ?? first) < Number(first)) return undefined;
    if (last === undefined) single.push(Number(first));
    else ranges.push({ first: Number(first), last: Number(last) });
  }
  return { name, url, ranges, companies: single };
};

const isNatsUrl = (url: string): boolean => {
  try {
    parseNatsUrl(url);
    return true;
  } catch {
    return false;
  }
};

/** What two cells claim both. A company named in one cell may lie in the range of another. */
const conflictOf = (settings: readonly CellSetting[]): string | undefined => {
  if (new Set(settings.map(({ name }) => name)).size < settings.length) return 'has two cells of one name';
  const ranges = settings.flatMap((one) => one.ranges).sort((a, b) => a.first - b.first);
  if (ranges.some(({ first }, at) => at > 0 && first <= ranges[at - 1]!.last))
    return 'has ranges that overlap';
  const named = settings.flatMap((one) => one.companies);
  return new Set(named).size < named.length ? 'names a company twice' : undefined;
};
