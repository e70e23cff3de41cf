import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { Activity } from '../../model/activity.tsx';
import { AttemptView } from '../../model/attempt-view.tsx';
import type { Answer } from '../../model/client.ts';
import { attemptQuery, type DeliveryName, deliveryQuery, pathOf, stateOf } from '../../model/deliveries.ts';
import { eventQuery } from '../../model/queries.ts';
import { titleOf, useNames } from '../../model/records.tsx';
import { SubscriptionLink } from '../../model/subscription-links.tsx';
import { nameOf } from '../../model/subscriptions.ts';
import { CopyButton } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { number } from '../../ui/format.ts';
import { BackLink, Card, Facts, Page, Quiet, Row, Split, Stack } from '../../ui/layout.tsx';
import { Loaded, Notice, SkeletonLines } from '../../ui/states.tsx';
import { Badge, Moment, StateBadge, TimeAgo } from '../../ui/values.tsx';
import { Timeline } from './attempt-timeline.tsx';
import { DeliveryActions, ShareDelivery } from './delivery-actions.tsx';
import s from './delivery-page.module.css';

export function DeliveryPage() {
  const name = useParams({ from: '/in/deliveries/$event/$subscription/$replay' });
  const { attempt } = useSearch({ from: '/in/deliveries/$event/$subscription/$replay' });
  const navigate = useNavigate({ from: '/deliveries/$event/$subscription/$replay' });
  const query = useQuery({
    ...deliveryQuery(name),
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? 3000 : false),
  });
  const id = `${name.event}-${name.subscription}-${name.replay}`;
  const event = useQuery({ ...eventQuery(name.event), retry: false });
  const { data } = query;
  const state = data && stateOf(data);
  const names = useNames([data?.subject ?? null]);
  const title = data?.subject ? titleOf(data.subject, names) : data ? `Event ${data.eventId}` : 'Delivery';
  const chosen = attempt ?? data?.history.at(-1)?.attempt;
  return (
    <Page
      title={title}
      kind="Delivery"
      oneLine
      badge={
        data &&
        state && (
          <>
            <Badge mono>{data.eventType}</Badge> <StateBadge {...state} />
          </>
        )
      }
      description={
        <>
          Delivery <code>{id}</code> <CopyButton value={id} label="Copy delivery ID" />
        </>
      }
      back={<BackLink to="/deliveries">Deliveries</BackLink>}
      actions={
        data && (
          <>
            <DeliveryActions delivery={data} />
            <ShareDelivery id={data.id} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(delivery) => (
          <Split
            wide
            aside={
              <>
                <DeliveryFacts delivery={delivery} />
                <Payload event={event.data} />
                <Activity kind="delivery" id={delivery.id} />
              </>
            }
          >
            <Card title="Attempts">
              <Timeline
                history={delivery.history}
                chosen={chosen}
                onChoose={(next) => void navigate({ search: { attempt: next }, replace: true })}
              >
                <NextAttempt delivery={delivery} />
              </Timeline>
            </Card>
            {chosen !== undefined && <ChosenAttempt name={name} attempt={chosen} />}
          </Split>
        )}
      </Loaded>
    </Page>
  );
}

function DeliveryFacts({ delivery }: { readonly delivery: Answer<'getDelivery'> }) {
  const { subscription, subscriptionId, eventId, replayId, others } = delivery;
  return (
    <>
      <Card title="About">
        <Facts
          columns={8}
          facts={{
            Record: delivery.subject?.kind === 'client' && (
              <Link to="/clients/$id" params={{ id: delivery.subject.id }}>
                Client {delivery.subject.id}
              </Link>
            ),
            Event: (
              <Link to="/events/$id" params={{ id: eventId }}>
                {eventId}
              </Link>
            ),
            'Event time': <Moment time={delivery.eventCreatedUtc} />,
            Subscription: (
              <SubscriptionLink id={subscriptionId} name={subscription ? nameOf(subscription) : undefined} />
            ),
            'Created by': replayId !== 0 && (
              <Link to="/deliveries" search={{ replay: replayId }}>
                Replay {replayId}
              </Link>
            ),
          }}
        />
      </Card>
      {others.length > 0 && (
        <Card title="Other deliveries of this event">
          <Stack gap="s">
            {others.map((one) => {
              return (
                <Row key={one.id} justify="space-between">
                  <Link to="/deliveries/$event/$subscription/$replay" params={pathOf(one)}>
                    {one.replayId === 0 ? 'First delivery' : `Replay ${one.replayId}`}
                  </Link>
                  <Row>
                    <Quiet small>
                      <TimeAgo time={one.updatedUtc} />
                    </Quiet>
                    <StateBadge {...stateOf(one)} />
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

type Delivery = Answer<'getDelivery'>;

function NextAttempt({ delivery }: { readonly delivery: Delivery }) {
  const { state, wait } = delivery;
  if (state === 'succeeded') return null;
  return (
    <li className={clsx(s.item, s.next)}>
      {wait && <Wait wait={wait} />}
      {state === 'held' && <HeldHint delivery={delivery} />}
      {state === 'failed' && 'Failed after the last attempt. Resend it when the receiver works again.'}
      {state === 'dropped' && 'Discarded. Resend it to deliver it.'}
    </li>
  );
}

function Wait({
  wait: { reason, sinceUtc, place, nextUtc },
}: {
  readonly wait: NonNullable<Delivery['wait']>;
}) {
  return (
    <>
      {waitTexts[reason]}
      {sinceUtc !== null && <Moment time={sinceUtc} />}
      {place !== null && ` Its place: ${number(place)}.`}
      {nextUtc !== null && (
        <>
          {place !== null && ' About '}
          <TimeAgo time={nextUtc} />{' '}
          <Quiet small>
            (<Moment time={nextUtc} />)
          </Quiet>
        </>
      )}
    </>
  );
}

const waitTexts: Readonly<Record<NonNullable<Delivery['wait']>['reason'], string>> = {
  paused: 'Waits: deliveries to this subscription are paused since ',
  failing: 'Waits for the endpoint, which is failing and gets one attempt at a time: the next ',
  retry: 'Next attempt ',
  paced: 'Waits for its turn: the subscription has a pace.',
  underway: 'An attempt is under way.',
  turn: 'Waits for its turn.',
};

function HeldHint({ delivery: { subscription, subscriptionId } }: { readonly delivery: Delivery }) {
  if (subscription === null) return 'Held. Its subscription was deleted.';
  if (subscription.enabled) return 'Held since its subscription was disabled. Release it to deliver it.';
  return (
    <>
      Held because its subscription is disabled.{' '}
      <Link to="/subscriptions/$id" params={{ id: subscriptionId }}>
        Catch up
      </Link>
    </>
  );
}

/** The same in every attempt. */
function Payload({ event }: { readonly event: Answer<'getPortalEvent'> | undefined }) {
  return (
    <Card title="Payload">
      {event ? (
        <CodeBlock
          code={JSON.stringify(event.payload, null, 2)}
          language="json"
          label="payload"
          maxLines={30}
          wrap
        />
      ) : (
        <Quiet>The event is no longer kept.</Quiet>
      )}
    </Card>
  );
}

function ChosenAttempt({ name, attempt }: { readonly name: DeliveryName; readonly attempt: number }) {
  const query = useQuery(attemptQuery(name, attempt));
  return (
    <Card title={`Attempt ${attempt}`}>
      <Loaded query={query} skeleton={<SkeletonLines lines={12} />}>
        {(whole) => (
          <>
            {whole.masked && (
              <Notice tone="info">
                Personal data is hidden from your role, so the signature does not match what is shown.
              </Notice>
            )}
            <AttemptView attempt={whole} when={<Moment time={whole.startedUtc} />} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
