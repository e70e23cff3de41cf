import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import type { Answer } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Cut } from '../../ui/cut.tsx';
import { milliseconds, number } from '../../ui/format.ts';
import { HealthBar } from '../../ui/health-bar.tsx';
import { Quiet } from '../../ui/layout.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { nameOf, stateWith } from '../subscriptions/state.ts';

type Stats = Answer<'getDeliveryStats'>;
type Endpoint = Stats['subscriptions'][number];

/** The subscriptions by health. */
export function Endpoints({ stats }: { readonly stats: UseQueryResult<Stats> }) {
  return (
    <Card
      flush
      title="Subscriptions"
      description="Those off or failing first."
      actions={<Link to="/subscriptions">All subscriptions</Link>}
    >
      <OrError query={stats}>
        <Table
          label="Subscriptions by health"
          columns={columns}
          rows={stats.data?.subscriptions.slice(0, 8)}
          rowKey={(one) => one.id}
          skeletonRows={3}
          emptyState={
            <Empty
              icon={<Webhook />}
              title="No subscriptions yet"
              action={<LinkButton to="/subscriptions/new">Add subscription</LinkButton>}
            >
              Their health is shown here once events are delivered.
            </Empty>
          }
        />
      </OrError>
    </Card>
  );
}

const columns: readonly Column<Endpoint>[] = [
  {
    id: 'name',
    header: 'Subscription',
    phone: 'title',
    grow: true,
    cell: (one) =>
      one.url === null ? (
        <Quiet>Deleted (no. {one.id})</Quiet>
      ) : (
        <Link to="/subscriptions/$id" params={{ id: one.id }}>
          <Cut strong text={nameOf({ name: one.name, url: one.url })} />
        </Link>
      ),
  },
  { id: 'state', header: 'State', phone: 'badge', cell: (one) => <State endpoint={one} /> },
  {
    id: 'share',
    header: 'Delivered',
    phone: 'detail',
    cell: (one) => <HealthBar succeeded={one.succeeded} failed={one.failed} />,
  },
  { id: 'attempts', header: 'Attempts', align: 'end', cell: (one) => number(one.succeeded + one.failed) },
  { id: 'p50', header: 'p50', align: 'end', cell: (one) => time(one.p50Ms) },
  { id: 'p95', header: 'p95', phone: 'named-time', align: 'end', cell: (one) => time(one.p95Ms) },
  { id: 'p99', header: 'p99', align: 'end', cell: (one) => time(one.p99Ms) },
];

const time = (ms: number | null) => (ms === null ? <Quiet>–</Quiet> : milliseconds(ms));

function State({ endpoint }: { readonly endpoint: Endpoint }) {
  if (endpoint.url === null) return <Quiet>–</Quiet>;
  const { tone, label } = stateWith(endpoint);
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  );
}
