import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowUp, RefreshCw } from 'lucide-react';
import { useDeferredValue } from 'react';
import { type Answer, call } from '../../model/client.ts';
import { countsQuery, countText, type DeliverySearch, deliveriesQuery } from '../../model/deliveries.ts';
import { DeliveryTable } from '../../model/delivery-table.tsx';
import { useSession } from '../../model/session.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { number, plural, span } from '../../ui/format.ts';
import { Card, Page, Row } from '../../ui/layout.tsx';
import { Empty, Notice } from '../../ui/states.tsx';
import { Pager } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Segmented } from '../../ui/toolbar.tsx';
import s from './deliveries-page.module.css';
import { DeliveryFilters } from './delivery-filters.tsx';
import { FailureCauses } from './failure-causes.tsx';

export function DeliveriesPage() {
  const search = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const { settings } = useSession();
  const view = search.view ?? 'log';
  // The tab switches at once; its content follows.
  const shown = useDeferredValue(view);
  return (
    <Page
      title="Deliveries"
      description={`Each event goes to every subscription to its type, and is retried for about ${span(settings.retryForMs)}.`}
    >
      <Tabs
        label="Views"
        value={view}
        onChange={(next) => void navigate({ search: next === 'log' ? {} : { view: next } })}
        tabs={[
          { id: 'log', label: 'Log' },
          { id: 'causes', label: 'Causes' },
        ]}
      >
        {shown === 'log' && <DeliveryLog />}
        {shown === 'causes' && <FailureCauses />}
      </Tabs>
    </Page>
  );
}

function DeliveryLog() {
  const { view, ...search } = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const { settings } = useSession();
  const query = useQuery({ ...deliveriesQuery(search), placeholderData: keepPreviousData });
  const { filters, isFiltered, clear, pager } = useFilters(search);
  const counts = useCounts(filters);
  const show = (next: DeliverySearch): void => void navigate({ search: next, replace: true });
  const refresh = (): void => void Promise.all([query.refetch(), counts.refetch()]);
  const { data } = query;
  return (
    <Card flush>
      <div className={s.bar}>
        <StateFilter search={filters} onChange={show} />
        <IconButton label="Refresh" icon={<RefreshCw />} pending={query.isFetching} onClick={refresh} />
        {data && search.cursor === undefined && (
          <NewDeliveries key={JSON.stringify(filters)} search={filters} page={data} onShow={refresh} />
        )}
        <DeliveryFilters search={filters} onChange={show} />
      </div>
      {filters.state === 'undelivered' && counts.data && counts.data.undelivered.missed > 0 && (
        <Notice tone="warn">
          {plural(
            counts.data.undelivered.missed,
            '# of them was missed, and has no delivery: ',
            '# of them were missed, and have no delivery: ',
          )}
          <Link to="/subscriptions" search={{ state: 'undecided' }}>
            Decide about missed events
          </Link>
        </Notice>
      )}
      <div className={query.isPlaceholderData ? s.stale : undefined}>
        <DeliveryTable
          query={query}
          emptyState={
            data?.hasMore ? (
              <Empty title="No matches so far">Choose Older to search further back.</Empty>
            ) : isFiltered || search.cursor !== undefined ? (
              <Empty
                title="No delivery matches"
                action={
                  <Row>
                    {filters.state === 'failed' && (
                      <Button
                        variant="primary"
                        onClick={() => void navigate({ search: { ...filters, state: 'undelivered' } })}
                      >
                        Show what is not delivered
                      </Button>
                    )}
                    <Button onClick={clear}>Clear all filters</Button>
                  </Row>
                }
              >
                {filters.state === 'failed' &&
                  'A delivery fails after its last retry. Until then it is pending, or held while its subscription is disabled.'}{' '}
                Deliveries are kept for {plural(settings.retentionDays, '# day')}.
              </Empty>
            ) : (
              <Empty
                title="No deliveries yet"
                action={
                  <Button onClick={() => void navigate({ to: '/subscriptions' })}>Go to subscriptions</Button>
                }
              >
                Deliveries are listed here as soon as a matching event occurs.
              </Empty>
            )
          }
        />
      </div>
      <Pager {...pager} page={data} />
    </Card>
  );
}

interface NewDeliveriesProps {
  readonly search: DeliverySearch;
  readonly page: Answer<'listDeliveries'>;
  readonly onShow: () => void;
}

/** Rows under the reader's eyes stay; what came since is shown when it is asked for. */
function NewDeliveries({ search, page, onShow }: NewDeliveriesProps) {
  const [id, input] = deliveriesQuery(search).queryKey;
  const { data: newest } = useQuery({
    queryKey: [id, input, 'newest'],
    queryFn: ({ signal }) => call(id, input, signal),
    initialData: page,
    staleTime: newestMs,
    refetchInterval: newestMs,
  });
  const shown = new Set(page.deliveries.map(({ id }) => id));
  const count = newest.deliveries.filter(({ id }) => !shown.has(id)).length;
  return (
    <span role="status">
      {count > 0 && (
        <Button size="s" icon={<ArrowUp />} onClick={onShow}>
          {number(count)}
          {count === newest.deliveries.length && newest.hasMore ? '+' : ''} new
        </Button>
      )}
    </span>
  );
}

const newestMs = 10_000;

const useCounts = (search: DeliverySearch) =>
  useQuery({ ...countsQuery(search), placeholderData: keepPreviousData });

const choices = [
  { value: 'all', label: 'All' },
  { value: 'succeeded', label: 'Delivered' },
  { value: 'undelivered', label: 'Not delivered' },
  { value: 'waiting', label: 'Pending' },
  { value: 'held', label: 'Held' },
  { value: 'dropped', label: 'Discarded' },
] as const;

function StateFilter({
  search,
  onChange,
}: {
  readonly search: DeliverySearch;
  readonly onChange: (search: DeliverySearch) => void;
}) {
  const { data } = useCounts(search);
  const state = search.state ?? 'all';
  return (
    <Segmented
      label="Deliveries shown"
      // None, if a state is chosen that is not among them.
      value={state as (typeof choices)[number]['value']}
      onChange={(value) => onChange({ ...search, state: value === 'all' ? undefined : value })}
      options={choices.map((choice) => {
        if (choice.value === 'waiting' || choice.value === 'dropped') return choice;
        const counted = data?.[choice.value];
        return { ...choice, count: counted ? countText(counted) : '' };
      })}
    />
  );
}
