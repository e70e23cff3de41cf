import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FlaskConical, Pencil, Plus, RotateCcw, Send } from 'lucide-react';
import { subscriptionsQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { UndeliveredLink } from '../../model/subscription-links.tsx';
import {
  listSubscriptions,
  managedReason,
  matches,
  nameOf,
  type Subscription,
  type SubscriptionFilter,
  type SubscriptionSort,
  shortUrl,
  stateOf,
  subscriptionFilters,
} from '../../model/subscriptions.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { number, plural } from '../../ui/format.ts';
import { Card, Page, Quiet } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty } from '../../ui/states.tsx';
import { actionsColumn, type Column, Table } from '../../ui/table.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { Badge, Cut, HealthBar, MinuteAgo } from '../../ui/values.tsx';
import { isBehind } from './catch-up.ts';
import { CatchUpDialog } from './catch-up-dialog.tsx';
import { useDialogActions } from './subscription-dialogs.tsx';
import { conditionText, paceText } from './subscription-rules.tsx';
import s from './subscriptions-page.module.css';

export function SubscriptionsPage() {
  const search = useSearch({ from: '/in/subscriptions' });
  const query = useQuery({
    ...subscriptionsQuery,
    refetchInterval: search.dialog === 'catch-up' ? 2000 : 30_000,
  });
  const refusal = useRefusal('developer');
  const navigate = useNavigate({ from: '/subscriptions' });
  const set = (change: typeof search): void =>
    void navigate({ search: { ...search, page: undefined, ...change }, replace: true });
  const all = query.data?.subscriptions;
  const found = all && listSubscriptions(all, search);
  const filtered = search.q !== undefined || search.state !== undefined;
  const add = refusal ? (
    <Button variant="primary" icon={<Plus />} disabledReason={refusal}>
      Add subscription
    </Button>
  ) : (
    <LinkButton to="/subscriptions/new" variant="primary" icon={<Plus />}>
      Add subscription
    </LinkButton>
  );
  const behind = all?.filter(isBehind) ?? [];
  return (
    <Page
      title="Subscriptions"
      description="Each subscription sends events from your CRM to a URL."
      actions={
        <>
          {behind.length > 0 && refusal === undefined && (
            <Button
              icon={<RotateCcw />}
              onClick={() => void navigate({ search: { ...search, dialog: 'catch-up' } })}
            >
              {plural(behind.length, 'Catch up # receiver…', 'Catch up # receivers…')}
            </Button>
          )}
          {add}
        </>
      }
      refreshing={query.isRefetching}
    >
      <Card flush>
        {(all === undefined || all.length > 0 || filtered) && (
          <Toolbar>
            <SearchBox label="Search subscriptions" value={search.q} onChange={(q) => set({ q })} />
            <Filter
              label="State"
              all="Any state"
              value={search.state}
              options={stateOptions(all ?? [])}
              onChange={(state) => set({ state })}
            />
            <Filter
              label="Order"
              value={search.sort ?? 'trouble'}
              options={sortOptions()}
              onChange={(sort) => set({ sort: sort === 'trouble' ? undefined : sort })}
            />
          </Toolbar>
        )}
        <Table
          label="Subscriptions"
          columns={columns()}
          query={query}
          rowKey={(one) => one.id}
          rows={found}
          paged={{ page: search.page, size: 25, onPage: (page) => set({ page }) }}
          emptyState={
            filtered ? (
              <Empty
                title="No subscription matches"
                action={<Button onClick={() => void navigate({ search: {} })}>Clear all filters</Button>}
              />
            ) : (
              <Empty title="No subscriptions yet" action={add}>
                Add the URL of a tool to notify about new clients, payments or signed agreements.
              </Empty>
            )
          }
        />
      </Card>
      <CatchUpDialog
        open={search.dialog === 'catch-up' && refusal === undefined && all !== undefined}
        subscriptions={all ?? []}
        onClose={() => set({ dialog: undefined, page: search.page })}
      />
    </Page>
  );
}

const stateLabels = (): Readonly<Record<SubscriptionFilter, string>> => ({
  off: 'Auto-disabled',
  failing: 'Failing',
  unverified: 'Waiting for verification',
  disabled: 'Disabled',
  enabled: 'Enabled',
  undecided: 'Enabled, with held or missed',
});

const stateOptions = (all: readonly Subscription[]) =>
  subscriptionFilters.map((value) => ({
    value,
    label: `${stateLabels()[value]} (${number(all.filter((one) => matches(one, value)).length)})`,
  }));

const sortOptions = (): readonly { readonly value: SubscriptionSort; readonly label: string }[] => [
  { value: 'trouble', label: 'In trouble first' },
  { value: 'name', label: 'By name' },
  { value: 'newest', label: 'Newest first' },
  { value: 'busiest', label: 'Busiest first' },
];

const columns = (): readonly Column<Subscription>[] => [
  {
    header: 'Subscription',
    phone: 'title',
    grow: true,
    cell: (one) => (
      <div className={s.cell}>
        <Link to="/subscriptions/$id" params={{ id: one.id }}>
          <Cut strong text={nameOf(one)} />
        </Link>
        {one.managedBy !== null && (
          <Badge tone="info" title={managedReason(one)}>
            {one.managedBy}
          </Badge>
        )}
        {one.conditions !== undefined && (
          <Badge title={one.conditions.map(conditionText).join('\n')}>Filtered</Badge>
        )}
        {one.pace !== undefined && <Badge title={paceText(one.pace)}>Paced</Badge>}
        {one.name !== null && (
          <span className={s.url}>
            <Cut text={shortUrl(one.url)} />
          </span>
        )}
      </div>
    ),
  },
  {
    header: 'State',
    phone: 'badge',
    cell: (one) => {
      const { tone, label } = stateOf(one);
      return (
        <Badge tone={tone} dot title={one.disabledReason ?? undefined}>
          {label}
        </Badge>
      );
    },
  },
  {
    header: 'Not delivered',
    phone: 'detail',
    cell: ({ id, health: { undelivered } }) =>
      undelivered.count > 0 && <UndeliveredLink undelivered={undelivered} search={{ subscription: id }} />,
  },
  {
    header: 'Events',
    cell: (one) => (
      <span data-tip={one.eventTypes.join('\n')}>{plural(one.eventTypes.length, '# type')}</span>
    ),
  },
  {
    header: 'Last 24 hours',
    cell: (one) => <HealthBar succeeded={one.health.succeeded24h} failed={one.health.failed24h} />,
  },
  {
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
  const { id } = subscription;
  return (
    <RowMenu
      label={nameOf(subscription)}
      actions={[
        {
          label: 'Send test delivery',
          icon: <FlaskConical />,
          disabledReason: refusal,
          onSelect: () =>
            void navigate({ to: '/subscriptions/$id', params: { id }, search: { dialog: 'test' } }),
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
        ...useDialogActions(subscription),
      ]}
    />
  );
}
