import type { Entry } from '../../model/audit-words.ts';

const columns: Readonly<Record<string, (entry: Entry) => unknown>> = {
  id: ({ id }) => id,
  time_utc: ({ createdUtc }) => createdUtc,
  actor_kind: ({ actor }) => actor.kind,
  actor_id: ({ actor }) => actor.id,
  actor: ({ actor }) => actor.name,
  action: ({ action }) => action,
  target_kind: ({ target }) => target.kind,
  target_id: ({ target }) => target.id,
  target: ({ target }) => target.name,
  before: ({ before }) => before && JSON.stringify(before),
  after: ({ after }) => after && JSON.stringify(after),
  address: ({ address }) => address,
  browser: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
};

/** RFC 4180, with a byte order mark, without which spreadsheets read UTF-8 as another encoding. */
export const csvOf = (entries: readonly Entry[]): string =>
  `\uFEFF${[
    Object.keys(columns),
    ...entries.map((entry) => Object.values(columns).map((read) => read(entry))),
  ]
    .map((row) => `${row.map(cellOf).join(',')}\r\n`)
    .join('')}`;

/** A spreadsheet would run a text with such a beginning as a formula; after an apostrophe it is a text. */
const cellOf = (value: unknown): string => {
  const text = value === null ? '' : String(value);
  return `"${(/^\s*[=+\-@＝＋－＠\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};
