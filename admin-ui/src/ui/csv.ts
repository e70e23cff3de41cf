export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

export const saveCsv = <Row>(name: string, columns: CsvColumns<Row>, rows: readonly Row[]): void =>
  save(`${name}-${new Date().toISOString().slice(0, 10)}.csv`, csvOf(columns, rows));

/** RFC 4180, with a byte order mark, without which spreadsheets read UTF-8 as another encoding. */
export const csvOf = <Row>(columns: CsvColumns<Row>, rows: readonly Row[]): string =>
  `\uFEFF${[Object.keys(columns), ...rows.map((row) => Object.values(columns).map((read) => read(row)))]
    .map((row) => `${row.map(cellOf).join(',')}\r\n`)
    .join('')}`;

/** A spreadsheet would run a text with such a beginning as a formula; after an apostrophe it is a text. */
const cellOf = (value: unknown): string => {
  const text = value === null ? '' : String(value);
  return `"${(/^\s*[=+\-@＝＋－＠\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};

/** Downloads a text as a file. */
export const save = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // Browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
