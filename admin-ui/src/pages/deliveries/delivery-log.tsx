import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { RefreshCw, Send } from 'lucide-react';
import { useSession } from '../../app/session.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format.ts';
import { Row } from '../../ui/layout.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, OrError } from '../../ui/states.tsx';
import { DeliveryFilters } from './delivery-filters.tsx';
import s from './delivery-log.module.css';
import { DeliveryTable } from './delivery-table.tsx';
import { deliveriesQuery } from './queries.ts';

/** The delivery log, filtered by the URL. */
export function DeliveryLog() {
  const { view, dialog, ...search } = useSearch({ from: '/in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const { settings } = useSession();
  const query = useQuery({ ...deliveriesQuery(search), placeholderData: keepPreviousData });
  const { cursor, ...filters } = search;
  const filtered = Object.values(filters).some((value) => value !== undefined);
  const { data } = query;
  return (
    <Card flush className={s.card}>
      <div className={s.bar}>
        <DeliveryFilters
          search={filters}
          onChange={(next) => void navigate({ search: next, replace: true })}
        />
        <IconButton
          label="Refresh"
          icon={<RefreshCw />}
          pending={query.isFetching}
          onClick={() => void query.refetch()}
        />
      </div>
      <OrError query={query}>
        <div className={query.isPlaceholderData ? s.stale : undefined}>
          <DeliveryTable
            deliveries={data?.deliveries}
            emptyState={
              data?.hasMore ? (
                <Empty title="No matches so far" icon={<Send />}>
                  Choose Older to search further back.
                </Empty>
              ) : filtered || cursor !== undefined ? (
                <Empty
                  icon={<Send />}
                  title="No delivery matches"
                  action={
                    <Row>
                      {filters.state === 'failed' && (
                        <Button
                          variant="primary"
                          onClick={() => void navigate({ search: { ...filters, state: 'undelivered' } })}
                        >
                          Show all not delivered
                        </Button>
                      )}
                      <Button onClick={() => void navigate({ search: {} })}>Clear all filters</Button>
                    </Row>
                  }
                >
                  {filters.state === 'failed' &&
                    'A delivery fails after its last retry. Until then it is pending, or held while its subscription is disabled. '}
                  Deliveries are kept for {plural(settings.retentionDays, 'day')}.
                </Empty>
              ) : (
                <Empty
                  icon={<Send />}
                  title="No deliveries yet"
                  action={
                    <Button onClick={() => void navigate({ to: '/subscriptions' })}>
                      Go to subscriptions
                    </Button>
                  }
                >
                  Deliveries are listed here as soon as a matching event occurs.
                </Empty>
              )
            }
          />
        </div>
      </OrError>
      <Pager
        cursor={cursor}
        page={data}
        onPage={(to) => void navigate({ search: { ...filters, cursor: to } })}
      />
    </Card>
  );
}
