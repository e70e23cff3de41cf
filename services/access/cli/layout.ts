import { styleText } from 'node:util';

/** Formats rows of text as columns, two spaces apart, without trailing spaces. Widths count code points. */
export const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))));
  return rows
    .map((row) =>
      row
        .map((text, at) => text + ' '.repeat(Math.max(0, widths[at]! - widthOf(text))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const widthOf = (text: string): number => [...text].length;

/** A time for people to read, in UTC: `2026-03-01 09:30`. */
export const moment = (iso: string | null): string =>
  iso === null ? '–' : iso.slice(0, 16).replace('T', ' ');

export const strong = (text: unknown): string => styleText('bold', String(text), { stream: process.stdout });

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const [head, ...lines] = columns([heads.map((text) => text.toUpperCase()), ...rows]).split('\n');
  return [styleText('dim', head ?? '', { stream: process.stdout }), ...lines].join('\n');
};
