import { Link, useNavigate } from '@tanstack/react-router';
import { FlaskConical, History, Pencil, Power, Send, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRefusal } from '../../app/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Cut } from '../../ui/cut.tsx';
import { number, plural } from '../../ui/format.ts';
import { HealthBar } from '../../ui/health-bar.tsx';
import { Quiet, Row, Stack } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { actionsColumn, type Column, Table } from '../../ui/table.tsx';
import { MinuteAgo } from '../../ui/time-ago.tsx';
import { isUndecided, managedReason, nameOf, type Subscription, shortUrl, stateOf } from './state.ts';

interface SubscriptionTableProps {
  readonly subscriptions: readonly Subscription[] | undefined;
  readonly emptyState: ReactNode;
}

export function SubscriptionTable({ subscriptions, emptyState }: SubscriptionTableProps) {
  return (
    <Table
      label="Subscriptions"
      columns={columns}
      rows={subscriptions}
      rowKey={(one) => one.id}
      emptyState={emptyState}
    />
  );
}

const columns: readonly Column<Subscription>[] = [
  {
    id: 'name',
    header: 'Subscription',
    phone: 'title',
    grow: true,
    cell: (one) => (
      <Stack gap="xs">
        <Row gap="s">
          <Link to="/subscriptions/$id" params={{ id: one.id }}>
            <Cut strong text={nameOf(one)} />
          </Link>
          {one.managedBy !== null && (
            <Badge tone="info" title={managedReason(one)}>
              {one.managedBy}
            </Badge>
          )}
        </Row>
        {one.name !== null && (
          <Quiet small>
            <Cut text={shortUrl(one.url)} />
          </Quiet>
        )}
      </Stack>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'badge',
    cell: (one) => {
      const { tone, label } = stateOf(one);
      return (
        <Stack gap="xs">
          <Badge tone={tone} dot title={one.disabledReason ?? undefined}>
            {label}
          </Badge>
          {one.health.held > 0 && <Quiet small>{number(one.health.held)} held</Quiet>}
          {one.missed !== null && <Quiet small>{number(one.missed.count)} missed</Quiet>}
        </Stack>
      );
    },
  },
  {
    id: 'types',
    header: 'Events',
    cell: (one) => <span data-tip={one.eventTypes.join('\n')}>{plural(one.eventTypes.length, 'type')}</span>,
  },
  {
    id: 'health',
    header: 'Last 24 hours',
    phone: 'detail',
    cell: (one) => <HealthBar succeeded={one.health.succeeded24h} failed={one.health.failed24h} />,
  },
  {
    id: 'last',
    header: 'Last success',
    phone: 'named-time',
    cell: (one) =>
      one.health.lastSuccessUtc === null ? (
        <Quiet>None yet</Quiet>
      ) : (
        <MinuteAgo time={one.health.lastSuccessUtc} />
      ),
  },
  actionsColumn('menu', (one) => <Actions subscription={one} />),
];

function Actions({ subscription }: { readonly subscription: Subscription }) {
  const navigate = useNavigate();
  const refusal = useRefusal('developer');
  const { id, enabled } = subscription;
  const dialog = (name: 'delete' | 'disable' | 'repair'): void =>
    void navigate({ to: '/subscriptions/$id', params: { id }, search: { dialog: name } });
  return (
    <RowMenu
      label={nameOf(subscription)}
      actions={[
        {
          label: 'Send test delivery',
          icon: <FlaskConical />,
          disabledReason: refusal,
          onSelect: () => void navigate({ to: '/test', search: { subscription: id } }),
        },
        {
          label: 'View deliveries',
          icon: <Send />,
          onSelect: () => void navigate({ to: '/deliveries', search: { subscription: id } }),
        },
        {
          label: 'Edit',
          icon: <Pencil />,
          disabledReason: refusal ?? managedReason(subscription),
          onSelect: () => void navigate({ to: '/subscriptions/$id/edit', params: { id } }),
        },
        {
          label: enabled ? 'Disable…' : 'Enable…',
          icon: <Power />,
          disabledReason: refusal,
          onSelect: () => dialog(enabled ? 'disable' : 'repair'),
        },
        ...(isUndecided(subscription)
          ? [
              {
                label: 'Held and missed…',
                icon: <History />,
                disabledReason: refusal,
                onSelect: () => dialog('repair'),
              },
            ]
          : []),
        'separator',
        {
          label: 'Delete…',
          icon: <Trash2 />,
          danger: true,
          disabledReason: refusal,
          onSelect: () => dialog('delete'),
        },
      ]}
    />
  );
}
