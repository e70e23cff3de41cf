import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Split } from '../../ui/layout.tsx';
import { BackLabel, Page } from '../../ui/page.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import { ChosenAttempt } from './chosen-attempt.tsx';
import { DeliveryActions } from './delivery-actions.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { deliveryQuery } from './queries.ts';
import { stateOf } from './states.ts';
import { Timeline } from './timeline.tsx';

export function DeliveryPage() {
  const name = useParams({ from: '/in/deliveries/$event/$subscription/$replay' });
  const { attempt } = useSearch({ from: '/in/deliveries/$event/$subscription/$replay' });
  const navigate = useNavigate({ from: '/deliveries/$event/$subscription/$replay' });
  const query = useQuery({
    ...deliveryQuery(name),
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? 3000 : false),
  });
  const { data } = query;
  const state = data && stateOf(data);
  const chosen = attempt ?? data?.history.at(-1)?.attempt;
  return (
    <Page
      title={data ? data.eventType : 'Delivery'}
      badge={
        state && (
          <Badge tone={state.tone} dot>
            {state.label}
          </Badge>
        )
      }
      description={
        <>
          Delivery <code>{`${name.event}-${name.subscription}-${name.replay}`}</code>{' '}
          <CopyButton value={`${name.event}-${name.subscription}-${name.replay}`} label="Copy delivery ID" />
        </>
      }
      back={
        <Link to="/deliveries">
          <BackLabel>Deliveries</BackLabel>
        </Link>
      }
      actions={data && <DeliveryActions delivery={data} />}
    >
      <Loaded
        query={query}
        skeleton={
          <Split
            aside={
              <Card>
                <SkeletonLines lines={8} />
              </Card>
            }
          >
            <Card>
              <SkeletonLines lines={12} />
            </Card>
          </Split>
        }
      >
        {(delivery) => (
          <Split aside={<DeliveryFacts delivery={delivery} />}>
            <Card title="Attempts">
              <Timeline
                delivery={delivery}
                chosen={chosen}
                onChoose={(next) => void navigate({ search: { attempt: next }, replace: true })}
              />
            </Card>
            {chosen !== undefined && <ChosenAttempt name={name} attempt={chosen} />}
          </Split>
        )}
      </Loaded>
    </Page>
  );
}
