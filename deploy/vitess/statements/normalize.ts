/**
 * A statement as the list has it: with a placeholder for each value, and one value or row for lists of any length. So it is
 * the same in every run.
 */
export const normalize = (sql: string): string => {
  let text = sql
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\( /g, '(')
    .replace(/ (?=[),])/g, '');
  text = text
    // The days of partitions.
    .replace(/`p\d{8}`/g, '`p20260101`')
    .replace(/'\d{4}-\d\d-\d\d[^']*'/g, "'2026-01-02'")
    // Numbers that depend on the call.
    .replace(/\blimit \d+/gi, (found) => found.replace(/\d+/, '?'))
    .replace(/\/ \d+\)/g, '/ ?)')
    .replace(/LAST_INSERT_ID\(\) \+ \d+/g, 'LAST_INSERT_ID() + ?')
    // Rows that leave out different optional columns.
    .replace(/(?<=[(,] ?)default(?=[,)])/g, '?')
    // `in (?, ?, ?)`
    .replace(/\bin \(\?(?:, \?)+\)/gi, (found) => `${found.slice(0, 2)} (?)`);
  // `(?, ?), (?, ?)`
  text = repeated(text, /(\((?:[^()]|\([^()]*\))*\))(?:, ?\1)+/g, '$1');
  text = repeated(text, /(PARTITION `p20260101` VALUES LESS THAN \('2026-01-02'\))(?:, \1)+/g, '$1');
  // Two are as good as many, but not as one.
  return repeated(
    text,
    /(\(SELECT (?:[^()]|\([^()]*\))*\)) UNION ALL \1(?: UNION ALL \1)+/gi,
    '$1 UNION ALL $1',
  );
};

const repeated = (text: string, pattern: RegExp, by: string): string => {
  const shorter = text.replace(pattern, by);
  return shorter === text ? text : repeated(shorter, pattern, by);
};

/**
 * The same statement with a value in each place, as the planner reads it. Parts of a UNION have values of their own, because
 * they concern different companies.
 */
export const withValues = (statement: string): string =>
  statement
    .split(' UNION ALL ')
    .map((part, at) =>
      part.replace(/'(?:[^'\\]|\\.|'')*'|`[^`]*`|\?/g, (text) => (text === '?' ? `${at + 1}` : text)),
    )
    .join(' UNION ALL ');
