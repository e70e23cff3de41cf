import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import type { Answer } from '../../model/client.ts';
import { keyQuery } from '../../model/queries.ts';
import { Button } from '../../ui/button.tsx';
import { type CsvColumns, saveCsv } from '../../ui/csv.ts';
import { formatDay, number, plural } from '../../ui/format.ts';
import { Card, Page } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.ts';
import { Filter, Segmented, Toolbar } from '../../ui/toolbar.tsx';
import { Badge, ClockTime, Cut } from '../../ui/values.tsx';
import { cityOf, zone } from '../../ui/zone.ts';
import { keptDays, usageDays } from './usage.ts';

type UsageRow = Answer<'listUsage'>['rows'][number] & { readonly dayUtc: string };

/** By calendar days of the reader. */
export function UsagePage() {
  const { page, ...search } = useSearch({ from: '/in/usage' });
  const { key, only } = search;
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: typeof search & { page?: number | undefined }): void =>
    void navigate({ search: { ...search, ...change }, replace: true });
  const { dates, begins, at, shown, queries } = usageDays(search);
  const query = useQueries({
    queries,
    combine: (results) => {
      const days = results.map(({ data }) => data);
      return {
        // The first that failed stands for all.
        query: results.find(({ isError }) => isError) ?? results[0]!,
        isRefetching: results.some(({ isFetching }) => isFetching),
        isCut: days.some((one) => one?.isCut),
        rows: days.every((one) => one !== undefined)
          ? days
              .flatMap(({ rows }, on) => rows.map((row) => ({ ...row, dayUtc: begins[shown[on]!]! })))
              .toSorted((a, b) => b.refused - a.refused || b.requests - a.requests)
          : undefined,
      };
    },
  });
  const keyName = useQuery({ ...keyQuery(key ?? 0), enabled: key !== undefined }).data?.name;
  const { rows: all, isCut } = query;
  const download = (): void => {
    saveCsv('api-usage', csvColumns, all ?? []);
    toast(
      isCut
        ? plural(
            all?.length ?? 0,
            'Cut off after # row: choose a day or a key',
            'Cut off after # rows: choose a day or a key',
          )
        : plural(all?.length ?? 0, '# row exported', '# rows exported'),
    );
  };
  return (
    <Page
      title="API usage"
      description={`Requests by key, day and operation, for seven days. Days begin at midnight in ${cityOf(zone())}.`}
      refreshing={query.isRefetching}
      actions={
        <Button
          icon={<Download />}
          disabledReason={all?.length ? undefined : 'There is nothing to export'}
          onClick={download}
        >
          Export CSV
        </Button>
      }
    >
      <Card flush>
        <Toolbar>
          <Filter
            label="Day"
            all="Last 7 days"
            value={dates[at]}
            options={dates
              .map((value, one) => ({ value, label: labelOf(begins[one]!, keptDays - 1 - one) }))
              .toReversed()}
            onChange={(to) => set({ day: to })}
          />
          <Segmented
            label="Requests"
            value={only ?? 'all'}
            options={[
              { value: 'all', label: 'All' },
              { value: 'refused', label: 'Refused' },
              { value: 'failed', label: 'Failed' },
            ]}
            onChange={(to) => set({ only: to === 'all' ? undefined : to })}
          />
          {key !== undefined && (
            <Filter
              label="Key"
              all="All keys"
              value={String(key)}
              options={[{ value: String(key), label: keyName ?? `No. ${key}` }]}
              onChange={() => set({ key: undefined })}
            />
          )}
        </Toolbar>
        {isCut && (
          <Notice tone="info">
            The rows with the most refused requests, then with the most requests. Choose a day or a key for
            the others.
          </Notice>
        )}
        <Table
          query={query.query}
          label="API usage"
          columns={columns}
          rows={all}
          paged={{ page, size: 50, onPage: (to) => set({ page: to }) }}
          rowKey={({ keyId, dayUtc, method, operation }) => [keyId, dayUtc, method, operation].join(' ')}
          emptyState={
            <Empty title={only === 'refused' ? 'No request was over a limit' : 'No requests'}>
              Requests are counted a few seconds after they were made.
            </Empty>
          }
        />
      </Card>
    </Page>
  );
}

const labelOf = (begin: string, ago: number): string => ['Today', 'Yesterday'][ago] ?? formatDay(begin);

const columns: readonly Column<UsageRow>[] = [
  {
    header: 'Key',
    bounded: true,
    phone: 'title',
    cell: ({ keyId, keyName }) => (
      <Link to="/keys/$id" params={{ id: keyId }}>
        <Cut strong text={keyName} />
      </Link>
    ),
  },
  {
    header: 'Operation',
    grow: true,
    phone: 'detail',
    cell: ({ method, path }) => (
      <code>
        <Cut text={path === null ? 'an unknown path' : `${method} ${path.replace('/api/v1', '')}`} />
      </code>
    ),
  },
  { header: 'Day', phone: 'time', cell: ({ dayUtc }) => formatDay(dayUtc) },
  { header: 'Requests', align: 'end', cell: ({ requests }) => number(requests) },
  {
    header: 'Refused',
    align: 'end',
    phone: 'badge',
    cell: ({ refused, requests }) =>
      refused > 0 && (
        <Badge tone="warn" title="Over a rate limit">
          {`${number(refused)}\u00a0of\u00a0${number(requests)}`}
        </Badge>
      ),
  },
  {
    header: 'Last refused',
    cell: ({ lastRefusedUtc }) => lastRefusedUtc && <ClockTime time={lastRefusedUtc} />,
  },
  {
    header: 'Failed',
    align: 'end',
    cell: ({ failed }) => failed > 0 && <Badge tone="bad">{number(failed)}</Badge>,
  },
];

const csvColumns: CsvColumns<UsageRow> = {
  day_begins_utc: ({ dayUtc }) => dayUtc,
  key_id: ({ keyId }) => keyId,
  key: ({ keyName }) => keyName,
  method: ({ method }) => method,
  path: ({ path }) => path,
  operation: ({ operation }) => operation,
  requests: ({ requests }) => requests,
  refused: ({ refused }) => refused,
  last_refused_utc: ({ lastRefusedUtc }) => lastRefusedUtc,
  failed: ({ failed }) => failed,
};
