import { useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Card } from '../../ui/card.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded, SkeletonLines } from '../../ui/states.tsx';
import { eventTypesQuery, subscriptionsQuery } from '../subscriptions/queries.ts';
import { TestForm } from './test-form.tsx';

export function TestPage() {
  const refusal = useRefusal('developer');
  const query = useQuery(subscriptionsQuery);
  const types = useQuery(eventTypesQuery);
  const skeleton = (
    <Card>
      <SkeletonLines lines={10} />
    </Card>
  );
  return (
    <Page
      title="Test delivery"
      description="Sends a signed delivery marked as a test. It does not count as a failure and is not logged."
    >
      {refusal ? (
        <Notice tone="info">{refusal}</Notice>
      ) : (
        <Loaded query={query} skeleton={skeleton}>
          {({ subscriptions }) =>
            subscriptions.length === 0 ? (
              <Card>
                <Empty
                  icon={<FlaskConical />}
                  title="No subscriptions yet"
                  action={
                    <LinkButton to="/subscriptions/new" variant="primary">
                      Add subscription
                    </LinkButton>
                  }
                >
                  Test deliveries go to a subscription’s URL. Add a subscription first.
                </Empty>
              </Card>
            ) : types.isPending ? (
              <div aria-busy="true">{skeleton}</div>
            ) : (
              <TestForm subscriptions={subscriptions} />
            )
          }
        </Loaded>
      )}
    </Page>
  );
}
