import { Link } from '@tanstack/react-router';
import type { Answer } from '../../api/types.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Facts, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Moment, TimeAgo } from '../../ui/time-ago.tsx';
import { nameOf } from '../subscriptions/state.ts';
import { pathOf, stateOf } from './states.ts';

/** The delivery's event, subscription and replays. */
export function DeliveryFacts({ delivery }: { readonly delivery: Answer<'getDelivery'> }) {
  const { subscription, subscriptionId, eventId, replayId, others } = delivery;
  return (
    <>
      <Card title="About">
        <Facts
          columns={8}
          facts={[
            {
              label: 'Event',
              value: (
                <Link to="/events/$id" params={{ id: eventId }}>
                  {eventId}
                </Link>
              ),
            },
            { label: 'Happened', value: <Moment time={delivery.eventCreatedUtc} /> },
            {
              label: 'Subscription',
              value: subscription ? (
                <Link to="/subscriptions/$id" params={{ id: subscriptionId }}>
                  {nameOf(subscription)}
                </Link>
              ) : (
                <Quiet>Deleted (no. {subscriptionId})</Quiet>
              ),
            },
            replayId === 0
              ? null
              : {
                  label: 'Created by',
                  value: (
                    <Link to="/replays/$id" params={{ id: replayId }}>
                      Replay {replayId}
                    </Link>
                  ),
                },
          ]}
        />
      </Card>
      {others.length > 0 && (
        <Card title="Other deliveries of this event">
          <Stack gap="s">
            {others.map((one) => {
              const { tone, label } = stateOf(one);
              return (
                <Row key={one.id} justify="space-between">
                  <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
                    {one.replayId === 0 ? 'First delivery' : `Replay ${one.replayId}`}
                  </Link>
                  <Row>
                    <Quiet small>
                      <TimeAgo time={one.updatedUtc} />
                    </Quiet>
                    <Badge tone={tone} dot>
                      {label}
                    </Badge>
                  </Row>
                </Row>
              );
            })}
          </Stack>
        </Card>
      )}
    </>
  );
}
