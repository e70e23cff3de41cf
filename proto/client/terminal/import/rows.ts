import type { Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CausewayError } from '../../index.ts';

export interface Row {
  /** As a person counts: the header of a CSV file is 1. */
  readonly number: number;
  /** By the name of the column. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

interface Reading {
  readonly hash: Hash;
  readonly onColumns: (columns: readonly string[]) => void;
}

/** Streams the rows of a `.csv` or `.ndjson` file. @throws CausewayError if it is neither, or not UTF-8 */
export const readRows = (path: string, reading: Reading): AsyncGenerator<Row> => {
  const texts = textsOf(path, reading.hash);
  return isNdjson(path) ? ndjsonRows(texts, reading) : csvRows(texts, reading);
};

export const isNdjson = (path: string): boolean => /\.(?:ndjson|jsonl)$/i.test(path);

async function* textsOf(path: string, hash: Hash): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? new CausewayError(`${path} is not UTF-8`) : error;
  }
}

async function* csvRows(texts: AsyncIterable<string>, { onColumns }: Reading): AsyncGenerator<Row> {
  let header: readonly string[] | undefined;
  let number = 0;
  for await (const cells of csvRecords(texts)) {
    number++;
    if (!header) {
      header = cells.map((name) => name.trim());
      onColumns(header);
      continue;
    }
    const names = header;
    const values = Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
    yield cells.length === names.length
      ? { number, values }
      : { number, values, fault: `the row has ${cells.length} cells, and the header ${names.length}` };
  }
  if (!header) throw new CausewayError('the file is empty: the first row names the columns');
}

async function* ndjsonRows(texts: AsyncIterable<string>, { onColumns }: Reading): AsyncGenerator<Row> {
  let rest = '';
  let number = 0;
  const rowOf = (line: string): Row | undefined => {
    number++;
    if (line.trim() === '') return undefined;
    try {
      const values: unknown = JSON.parse(line);
      if (typeof values === 'object' && values !== null && !Array.isArray(values)) {
        onColumns(Object.keys(values));
        return { number, values: values as Row['values'] };
      }
    } catch {
      // Said below.
    }
    throw new CausewayError(`line ${number} is no JSON object`);
  };
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    if (rest.length > maxRecord) throw tooLong(number + 1);
    for (const line of lines) {
      const row = rowOf(line);
      if (row) yield row;
    }
  }
  const row = rowOf(rest);
  if (row) yield row;
}

/** RFC 4180, with the separator that the header has, and any ends of lines. Blank lines are left out. */
export async function* csvRecords(texts: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let separator: string | undefined;
  let cells: string[] = [];
  let cell = '';
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  let length = 0;
  let afterReturn = false;
  let number = 1;
  const endCell = (): void => {
    cells.push(cell);
    cell = '';
    state = 'start';
  };
  const endRecord = (): readonly string[] | undefined => {
    const isBlank = cells.length === 0 && cell === '' && state !== 'closed';
    endCell();
    const record = cells;
    cells = [];
    length = 0;
    number++;
    return isBlank ? undefined : record;
  };
  for await (const text of texts) {
    if (text !== '') separator ??= separatorOf(text);
    for (let at = 0; at < text.length; ) {
      const character = text[at]!;
      const isSecondOfPair = afterReturn && character === '\n';
      afterReturn = state !== 'quoted' && character === '\r';
      if (isSecondOfPair) at++;
      else if (state === 'quoted') {
        const end = text.indexOf('"', at);
        const part = text.slice(at, end < 0 ? text.length : end);
        cell += part;
        length += part.length;
        at += part.length + (end < 0 ? 0 : 1);
        if (end >= 0) state = 'closed';
      } else if (character === '"' && state !== 'plain') {
        if (state === 'closed') cell += '"';
        state = 'quoted';
        at++;
      } else if (character === separator) {
        endCell();
        at++;
      } else if (character === '\n' || character === '\r') {
        at++;
        const record = endRecord();
        if (record) yield record;
      } else {
        cell += character;
        length++;
        if (state === 'start') state = 'plain';
        at++;
      }
      if (length > maxRecord) throw tooLong(number);
    }
  }
  if (state === 'quoted') throw new CausewayError(`row ${number} has a quote that does not end`);
  const record = endRecord();
  if (record) yield record;
}

/** Enough for cells of a megabyte; a quote that does not end is noticed before it fills the memory. */
const maxRecord = 8 * 1024 * 1024;
const tooLong = (number: number): CausewayError =>
  new CausewayError(`row ${number} is longer than 8 MiB: does a quote not end?`);

const separatorOf = (text: string): string => {
  const [header = ''] = text.split(/[\r\n]/, 1);
  const count = (character: string): number => header.split(character).length;
  return [',', ';', '\t'].reduce((most, one) => (count(one) > count(most) ? one : most));
};
