import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Webhook } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { number } from '../../ui/format.ts';
import { LinkButton } from '../../ui/link-button.tsx';
import { Page } from '../../ui/page.tsx';
import { NumberedPager, pageOf } from '../../ui/pager.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { Filter, SearchBox, Toolbar } from '../../ui/toolbar.tsx';
import { EndpointVerification } from './endpoint-verification.tsx';
import {
  listSubscriptions,
  matches,
  type SubscriptionFilter,
  type SubscriptionSort,
  subscriptionFilters,
} from './list-subscriptions.ts';
import { subscriptionsQuery } from './queries.ts';
import type { Subscription } from './state.ts';
import { SubscriptionTable } from './subscription-table.tsx';

export function SubscriptionsPage() {
  const query = useQuery({ ...subscriptionsQuery, refetchInterval: 30_000 });
  const refusal = useRefusal('developer');
  const search = useSearch({ from: '/in/subscriptions' });
  const navigate = useNavigate({ from: '/subscriptions' });
  const set = (change: typeof search): void =>
    void navigate({ search: { ...search, page: undefined, ...change }, replace: true });
  const all = query.data?.subscriptions;
  const found = all && listSubscriptions(all, search);
  const shown = found && pageOf(found, search.page, pageSize);
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
  return (
    <Page
      title="Subscriptions"
      description="Each subscription sends events from your CRM to a URL."
      actions={add}
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
              options={sortOptions}
              onChange={(sort) => set({ sort: sort === 'trouble' ? undefined : sort })}
            />
          </Toolbar>
        )}
        <OrError query={query}>
          <SubscriptionTable
            subscriptions={shown?.rows}
            emptyState={
              filtered ? (
                <Empty
                  icon={<Webhook />}
                  title="No subscription matches"
                  action={<Button onClick={() => void navigate({ search: {} })}>Clear all filters</Button>}
                />
              ) : (
                <Empty icon={<Webhook />} title="No subscriptions yet" action={add}>
                  Add the URL of a tool to notify about new clients, payments or signed agreements.
                </Empty>
              )
            }
          />
        </OrError>
        <NumberedPager
          page={shown?.page ?? 1}
          pageSize={pageSize}
          count={found?.length ?? 0}
          onPage={(page) => set({ page: page === 1 ? undefined : page })}
        />
      </Card>
      {/* The list above it may have any height. */}
      {!query.isPending && <EndpointVerification />}
    </Page>
  );
}

const pageSize = 25;

const stateLabels: Readonly<Record<SubscriptionFilter, string>> = {
  off: 'Auto-disabled',
  failing: 'Failing',
  unverified: 'Waiting for verification',
  disabled: 'Disabled',
  enabled: 'Enabled',
  undecided: 'Enabled, with held or missed',
};

/** The states with how many subscriptions have them. */
const stateOptions = (all: readonly Subscription[]) =>
  subscriptionFilters.map((value) => ({
    value,
    label: `${stateLabels[value]} (${number(all.filter((one) => matches(one, value)).length)})`,
  }));

const sortOptions: readonly { readonly value: SubscriptionSort; readonly label: string }[] = [
  { value: 'trouble', label: 'In trouble first' },
  { value: 'name', label: 'By name' },
  { value: 'newest', label: 'Newest first' },
  { value: 'busiest', label: 'Busiest first' },
];
