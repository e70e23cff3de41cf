import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Answer } from '../../model/client.ts';
import { SubscriptionLink } from '../../model/subscription-link.tsx';
import { nameOf, stateWith } from '../../model/subscriptions.ts';
import { LinkButton } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Card, Quiet } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { HealthBar, StateBadge } from '../../ui/values.tsx';

type Stats = Answer<'getDeliveryStats'>;
type SubscriptionStats = Stats['subscriptions'][number];

export function SubscriptionsByHealth({ stats }: { readonly stats: UseQueryResult<Stats> }) {
  return (
    <Card
      flush
      title="Subscriptions"
      description="Those off or failing first."
      actions={<Link to="/subscriptions">All subscriptions</Link>}
    >
      <Table
        query={stats}
        label="Subscriptions by health"
        columns={columns}
        rows={stats.data?.subscriptions.slice(0, 8)}
        rowKey={(one) => one.id}
        skeletonRows={3}
        emptyState={
          <Empty
            title="No subscriptions yet"
            action={<LinkButton to="/subscriptions/new">Add subscription</LinkButton>}
          >
            Their health is shown here once events are delivered.
          </Empty>
        }
      />
    </Card>
  );
}

const columns: readonly Column<SubscriptionStats>[] = [
  {
    header: 'Subscription',
    phone: 'title',
    grow: true,
    cell: ({ id, name, url }) => (
      <SubscriptionLink strong id={id} name={url === null ? undefined : nameOf({ name, url })} />
    ),
  },
  { header: 'State', phone: 'badge', cell: (one) => <State endpoint={one} /> },
  {
    header: 'Delivered',
    phone: 'detail',
    cell: (one) => <HealthBar succeeded={one.succeeded} failed={one.failed} />,
  },
  { header: 'Attempts', align: 'end', cell: (one) => number(one.succeeded + one.failed) },
];

function State({ endpoint }: { readonly endpoint: SubscriptionStats }) {
  if (endpoint.url === null) return <Quiet>–</Quiet>;

  return <StateBadge {...stateWith(endpoint)} />;
}
