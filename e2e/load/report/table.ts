import { styleText } from 'node:util';

/** A titled table: the first columns are text, the others are figures. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  /** Number of text columns; the default is one. */
  readonly texts?: number;
  readonly rows: readonly (readonly string[])[];
}

/** Formats a table for a terminal, with aligned columns and figures to the right. */
export const toTerminal = ({ title, columns, rows, texts = 1 }: Table): string => {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => (at < texts ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('   ')}`.trimEnd();
  const dim = (text: string) => styleText('dim', text, { stream: process.stdout });
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const rule = dim(`  ${widths.map((width) => '─'.repeat(width)).join('───')}`);
  return ['', `  ${bold(title)}`, '', dim(line(columns)), rule, ...rows.map(line), ''].join('\n');
};

export const toMarkdown = ({ title, columns, rows, texts = 1 }: Table): string => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const align = columns.map((_, at) => (at < texts ? '---' : '---:'));
  return [`### ${title}`, '', line(columns), line(align), ...rows.map(line), ''].join('\n');
};
