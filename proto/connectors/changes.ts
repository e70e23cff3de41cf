import { basePath, type ConnectorRequest, type Json } from './request.ts';

/** The kinds of records whose changes start a workflow. */
export const recordKinds = [
  { name: 'Leads and Clients', value: 'person' },
  { name: 'Affiliates', value: 'affiliate' },
  { name: 'Notes', value: 'note' },
] as const;

/** A poll ends after these pages of 1,000; the next one reads on. */
const maxPages = 5;

/**
 * Reads the records that were created or changed after the cursor; `latest` is after all of them.
 * @param send answers without `changes` if the cursor has expired
 */
export const readChanges = async (
  send: (request: ConnectorRequest) => Promise<Json>,
  {
    types,
    from = 'latest',
    warn,
  }: { types: string; from?: string | undefined; warn: (text: string) => void },
): Promise<{ readonly records: Json[]; readonly cursor: string }> => {
  const records: Json[] = [];
  let cursor = from;
  for (let pages = 1; ; pages++) {
    const page = await send(changesRequest({ types, limit: '1000', cursor }));
    if (page.changes) records.push(...recordsIn(page));
    else warn('Changes are kept for 90 days. What changed since the last poll was skipped.');
    if (!page.changes) cursor = 'latest';
    // The end is not reached yet; what was written before it would be old.
    else if (cursor !== 'latest' || !page.hasMore) cursor = page.nextCursor as string;
    if (page.hasMore === false || pages === maxPages) return { records, cursor };
  }
};

/** The records that a person sees in the editor. */
export const sampleChanges = async (
  send: (request: ConnectorRequest) => Promise<Json>,
  types: string,
): Promise<Json[]> => recordsIn(await send(changesRequest({ types, limit: '3' })));

/** Names a feed: a cursor is for one company and its kinds of records. */
export const feedOf = (baseUrl: string, apiKey: string, types: string): string =>
  `${baseUrl} ${apiKey.slice(0, apiKey.lastIndexOf('_'))} ${types}`;

const changesRequest = (query: ConnectorRequest['query']): ConnectorRequest => ({
  method: 'GET',
  path: `${basePath}/integrations/changes`,
  query,
});

/** Rows for a sheet. A version of a record has an id, so that a tool can skip a repetition. */
const recordsIn = ({ changes }: Json): Json[] =>
  (changes as readonly Json[])
    .filter(({ operation }) => operation === 'upsert')
    .map(({ type, id, version, sequence, origin, record }) => ({
      id: `${type}-${id}-${version}`,
      record_type: type,
      sequence,
      origin,
      ...(record as Json),
    }));
