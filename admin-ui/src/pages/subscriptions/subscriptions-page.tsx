import { useQuery } from '@tanstack/react-query';
import { Plus, Webhook } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Failed } from '../../ui/failed.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Page } from '../../ui/page.tsx';

import { Empty } from '../../ui/states.tsx';
import { EndpointVerification } from './endpoint-verification.tsx';
import { subscriptionsQuery } from './queries.ts';

import { SubscriptionTable } from './subscription-table.tsx';

export function SubscriptionsPage() {
  const query = useQuery({ ...subscriptionsQuery, refetchInterval: 30_000 });
  const refusal = useRefusal('developer');
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
        {query.isError && !query.data ? (
          <Failed error={query.error} retry={() => void query.refetch()} />
        ) : (
          <SubscriptionTable
            subscriptions={query.data?.subscriptions}
            emptyState={
              <Empty icon={<Webhook />} title="No subscriptions yet" action={add}>
                Add the URL of a tool to notify about new clients, payments or signed agreements.
              </Empty>
            }
          />
        )}
      </Card>
      <EndpointVerification />
    </Page>
  );
}
