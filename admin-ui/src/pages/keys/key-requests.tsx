import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type KeyRequestsSearch, keyRequestsQuery } from '../../model/queries.ts';
import type { KeyRequest } from '../../model/scopes.ts';
import { roleAtLeast, useSession } from '../../model/session.ts';
import { milliseconds, number } from '../../ui/format.ts';
import { Card, Row } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Pager, Table } from '../../ui/table.tsx';
import { Segmented } from '../../ui/toolbar.tsx';
import { Badge, TimeAgo, type Tone } from '../../ui/values.tsx';
import s from './key-requests.module.css';

interface KeyRequestsProps extends KeyRequestsSearch {
  readonly onShow: (to: Partial<Pick<KeyRequestsSearch, 'status' | 'cursor'>>) => void;
}

export function KeyRequests({ onShow, ...search }: KeyRequestsProps) {
  const { status, cursor } = search;
  const requests = useQuery({
    ...keyRequestsQuery(search),
    placeholderData: keepPreviousData,
    refetchInterval: cursor === undefined ? 5_000 : false,
  });
  const { data } = requests;
  return (
    <Card
      flush
      title="Requests"
      description="Of the last seven days. Beyond a hundred in a short time, those of one kind share a line, with their number."
      actions={
        <Segmented
          label="Status"
          value={status ?? 'all'}
          options={[
            { value: 'all', label: 'All' },
            { value: '2', label: 'Succeeded' },
            { value: '4', label: 'Refused' },
            { value: '5', label: 'Failed' },
          ]}
          onChange={(to) => onShow({ status: to === 'all' ? undefined : to })}
        />
      }
    >
      <Table
        label="Requests"
        columns={columns}
        query={requests}
        rows={data?.requests}
        rowKey={(one) => Object.values(one).join(' ')}
        emptyState={
          <Empty title={data?.hasMore ? 'None among the latest requests' : 'No requests'}>
            {data?.hasMore
              ? 'Older pages may have some.'
              : 'Requests appear here a few seconds after they were made.'}
          </Empty>
        }
      />
      <Pager cursor={cursor} page={data} onPage={(to) => onShow({ status, cursor: to })} />
    </Card>
  );
}

const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad');

const recordPages = {
  leads: '/clients/$id',
  clients: '/clients/$id',
  people: '/clients/$id',
  subscriptions: '/subscriptions/$id',
  events: '/events/$id',
} as const;

/** The path, as a link to the record that the request read or changed. */
function RecordLink({ path }: Pick<KeyRequest, 'path'>) {
  const [, kind, id] = /\/(\w+)\/(\d+)(?![^/])/.exec(path ?? '') ?? [];
  const to = recordPages[kind as keyof typeof recordPages];
  if (path === null) return 'an unknown path';
  const short = path.replace('/api/v1', '');
  return to === undefined ? (
    short
  ) : (
    <Link to={to} params={{ id: Number(id) }}>
      {short}
    </Link>
  );
}

/** To the audit entries of the request, if it is of a kind that the audit log has. */
function AuditLink({ method, path, status, requestId }: KeyRequest) {
  const { role } = useSession().user;
  const isAudited = /\/(subscriptions|events\/test|people)(\/|$)/.test(path ?? '') && method !== 'GET';
  return (
    isAudited &&
    status < 300 &&
    requestId !== null &&
    roleAtLeast(role, 'admin') && (
      <Link to="/audit" search={{ q: requestId }} aria-label={`Audit entries of request ${requestId}`}>
        Audit log
      </Link>
    )
  );
}

const columns: readonly Column<KeyRequest>[] = [
  {
    header: 'Status',
    phone: 'badge',
    cell: ({ status, requestId }) => (
      <Badge tone={toneOf(status)} title={requestId === null ? undefined : `Request ${requestId}`}>
        {status}
      </Badge>
    ),
  },
  {
    header: 'Request',
    phone: 'title',
    grow: true,
    cell: (request) => (
      <Row gap="s" nowrap>
        <code className={s.request}>
          {request.method} <RecordLink path={request.path} />
        </code>
        {request.requests > 1 && (
          <Badge title="As many of this kind came within ten seconds; this is the first">
            ×{number(request.requests)}
          </Badge>
        )}
        {request.isPrevious && <Badge>old secret</Badge>}
        <AuditLink {...request} />
      </Row>
    ),
  },
  { header: 'Duration', align: 'end', cell: ({ durationMs }) => milliseconds(durationMs) },
  { header: 'From', cell: ({ address }) => address && <code>{address}</code> },
  { header: 'Time', align: 'end', phone: 'detail', cell: ({ utc }) => <TimeAgo time={utc} /> },
];
