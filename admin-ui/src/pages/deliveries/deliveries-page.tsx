import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto/delivery-states';
import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { RefreshCw, RotateCcw } from 'lucide-react';
import { useDeferredValue } from 'react';
import { useRefusal, useSession } from '../../app/session.ts';
import { onFirstUse } from '../../i18n/i18n.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { number, span } from '../../ui/format.ts';
import { Card, Page, Row } from '../../ui/layout.tsx';
import { Empty } from '../../ui/states.tsx';
import { Pager } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Segmented } from '../../ui/toolbar.tsx';
import { ReplayDialog, ReplayList } from '../replays/replay-list.tsx';
import { countsQuery, type DeliverySearch, deliveriesQuery } from './deliveries.ts';
import s from './deliveries-page.module.css';
import { DeliveryFilters } from './delivery-filters.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { FailureCauses } from './failure-causes.tsx';
import { LiveTail } from './live-tail.tsx';
import { SavedViews } from './saved-views.tsx';

export function DeliveriesPage() {
  const search = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const refusal = useRefusal('developer');
  const { settings } = useSession();
  const view = search.view ?? 'log';
  // The tab switches at once; its content follows.
  const shown = useDeferredValue(view);
  const { dialog, ...filters } = search;
  // A replay cannot be narrowed to one record: it would send more than the list shows.
  const ofRecord = [filters.client, filters.invoice, filters.email, filters.external, filters.event].some(
    (id) => id !== undefined,
  );
  return (
    <Page
      title={t`Deliveries`}
      description={t`Each event is delivered to every subscription to its type. Failed deliveries are retried for about ${{ duration: span(settings.retryForMs) }}. After ${failuresUntilProbing} failures in a row an endpoint gets one attempt at a time, with growing pauses; after ${failuresUntilDisabled}, its subscription is disabled and its deliveries are held.`}
      actions={
        <Button
          icon={<RotateCcw />}
          disabledReason={
            refusal ?? (ofRecord ? t`Resend single deliveries, or clear the record and the event` : undefined)
          }
          onClick={() => void navigate({ search: { ...search, dialog: 'replay' } })}
        >
          {t`Replay…`}
        </Button>
      }
    >
      <Tabs
        label={t`Views`}
        value={view}
        onChange={(next) => void navigate({ search: next === 'log' ? {} : { view: next } })}
        tabs={[
          { id: 'log', label: t`Log` },
          { id: 'causes', label: t`Causes` },
          { id: 'live', label: t`Live` },
          { id: 'replays', label: t`Replays` },
        ]}
      >
        {shown === 'log' && <DeliveryLog />}
        {shown === 'causes' && <FailureCauses />}
        {shown === 'live' && <LiveTail />}
        {shown === 'replays' && <ReplayList cursor={search.cursor} />}
      </Tabs>
      {dialog === 'replay' && refusal === undefined && !ofRecord && (
        <ReplayDialog
          filters={filters}
          onClose={() => void navigate({ search: view === 'causes' ? { view } : filters, replace: true })}
        />
      )}
    </Page>
  );
}

function DeliveryLog() {
  const { view, dialog, ...search } = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const { settings } = useSession();
  const query = useQuery({ ...deliveriesQuery(search), placeholderData: keepPreviousData });
  const { cursor, ...filters } = search;
  const counts = useCounts(filters);
  const show = (next: DeliverySearch): void => void navigate({ search: next, replace: true });
  const filtered = Object.values(filters).some((value) => value !== undefined);
  const { data } = query;
  return (
    <Card flush>
      <div className={s.bar}>
        <StateFilter search={filters} onChange={show} />
        <SavedViews search={filters} onChoose={(next) => void navigate({ search: next })} />
        <IconButton
          label={t`Refresh`}
          icon={<RefreshCw />}
          pending={query.isFetching}
          onClick={() => void Promise.all([query.refetch(), counts.refetch()])}
        />
        <DeliveryFilters search={filters} onChange={show} />
      </div>
      <div className={query.isPlaceholderData ? s.stale : undefined}>
        <DeliveryTable
          query={query}
          emptyState={
            data?.hasMore ? (
              <Empty title={t`No matches so far`}>{t`Choose Older to search further back.`}</Empty>
            ) : filtered || cursor !== undefined ? (
              <Empty
                title={t`No delivery matches`}
                action={
                  <Row>
                    {filters.state === 'failed' && (
                      <Button
                        variant="primary"
                        onClick={() => void navigate({ search: { ...filters, state: 'failing' } })}
                      >
                        {t`Show failing deliveries`}
                      </Button>
                    )}
                    <Button onClick={() => void navigate({ search: {} })}>{t`Clear all filters`}</Button>
                  </Row>
                }
              >
                {filters.state === 'failed' &&
                  t`A delivery fails after its last retry. Until then it is pending, or held while its subscription is disabled.`}{' '}
                <Trans>
                  Deliveries are kept for{' '}
                  <Plural value={{ days: settings.retentionDays }} one="# day" other="# days" />.
                </Trans>
              </Empty>
            ) : (
              <Empty
                title={t`No deliveries yet`}
                action={
                  <Button onClick={() => void navigate({ to: '/subscriptions' })}>
                    {t`Go to subscriptions`}
                  </Button>
                }
              >
                {t`Deliveries are listed here as soon as a matching event occurs.`}
              </Empty>
            )
          }
        />
      </div>
      <Pager
        cursor={cursor}
        page={data}
        onPage={(to) => void navigate({ search: { ...filters, cursor: to } })}
      />
    </Card>
  );
}

const useCounts = (search: DeliverySearch) =>
  useQuery({ ...countsQuery(search), placeholderData: keepPreviousData });

const choices = onFirstUse(
  () =>
    [
      { value: 'all', label: t`All` },
      { value: 'succeeded', label: t`Delivered` },
      { value: 'failing', label: t`Failing` },
      { value: 'held', label: t`Held` },
    ] as const,
);

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
      label={t`Deliveries shown`}
      // None, if a state is chosen that is not among them.
      value={state as ReturnType<typeof choices>[number]['value']}
      onChange={(value) => onChange({ ...search, state: value === 'all' ? undefined : value })}
      options={choices().map((choice) => {
        const counted = data?.[choice.value];
        return { ...choice, count: counted ? `${number(counted.count)}${counted.isMore ? '+' : ''}` : '' };
      })}
    />
  );
}
