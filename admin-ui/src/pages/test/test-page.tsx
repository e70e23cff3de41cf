import { useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Card } from '../../ui/card.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded, SkeletonLines } from '../../ui/states.tsx';
import { subscriptionsQuery } from '../subscriptions/queries.ts';
import { TestForm } from './test-form.tsx';

export function TestPage() {
  const refusal = useRefusal('developer');
  const query = useQuery(subscriptionsQuery);
  return (
    <Page
      title="Test delivery"
      description="Sends a delivery that is signed and posted like a real one and marked as a test. It counts as no failure and enters no log."
    >
      {refusal ? (
        <Notice tone="info">{refusal}</Notice>
      ) : (
        <Loaded
          query={query}
          skeleton={
            <Card>
              <SkeletonLines lines={10} />
            </Card>
          }
        >
          {({ subscriptions }) =>
            subscriptions.length === 0 ? (
              <Card>
                <Empty
                  icon={<FlaskConical />}
                  title="There is nothing to test yet"
                  action={
                    <LinkButton to="/subscriptions/new" variant="primary">
                      Add subscription
                    </LinkButton>
                  }
                >
                  A test goes to a subscription’s address, so add one first.
                </Empty>
              </Card>
            ) : (
              <TestForm subscriptions={subscriptions} />
            )
          }
        </Loaded>
      )}
    </Page>
  );
}
