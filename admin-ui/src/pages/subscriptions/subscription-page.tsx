import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Ellipsis, FlaskConical, KeyRound, Pencil } from 'lucide-react';
import { Activity } from '../../model/activity.tsx';
import { deliveriesQuery } from '../../model/deliveries.ts';
import { DeliveryTable } from '../../model/delivery-table.tsx';
import { subscriptionQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import { managedReason, nameOf, type Subscription, stateOf } from '../../model/subscriptions.ts';
import { Button, CopyButton, IconButton } from '../../ui/button.tsx';
import { useDialog } from '../../ui/dialog-button.tsx';
import {
  BackLink,
  Card,
  Facts,
  Page,
  Quiet,
  Row,
  SkeletonCard,
  Split,
  useFirstWait,
} from '../../ui/layout.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Empty, Loaded, Loading } from '../../ui/states.tsx';
import { Badge, HealthBar, MinuteAgo, Moment, StateBadge, TimeAgo } from '../../ui/values.tsx';
import { useMissedWhileOff } from './catch-up.ts';
import { CatchUp } from './catch-up-card.tsx';
import { OffBanner } from './subscription-banners.tsx';
import { DeleteDialog, DisableDialog, RotateDialog, useDialogActions } from './subscription-dialogs.tsx';
import { PausedNotice, ruleFacts } from './subscription-rules.tsx';
import { TestDialog } from './test-dialog.tsx';

export function SubscriptionPage() {
  const { id } = useParams({ from: '/in/subscriptions/$id' });
  const query = useQuery({
    ...subscriptionQuery(id),
    // While it catches up, its numbers change every moment.
    refetchInterval: ({ state: { data } }) =>
      data?.enabled && data.health.undelivered.count > 0 && data.consecutiveFailures === 0 ? 2000 : 15_000,
  });
  const { data } = query;
  const state = data && stateOf(data);
  return (
    <Page
      title={data ? nameOf(data) : 'Subscription'}
      kind="Subscription"
      badge={state && <StateBadge {...state} />}
      back={<BackLink to="/subscriptions">Subscriptions</BackLink>}
      actions={data && <Actions subscription={data} />}
      refreshing={query.isRefetching}
    >
      <Loaded query={query}>{(subscription) => <Details subscription={subscription} />}</Loaded>
    </Page>
  );
}

function Actions({ subscription }: { readonly subscription: Subscription }) {
  const { id } = subscription;
  const { open } = useDialog();
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  return (
    <>
      <Button icon={<FlaskConical />} disabledReason={refusal} onClick={() => open('test')}>
        Send test delivery
      </Button>
      <Button
        icon={<Pencil />}
        disabledReason={refusal ?? managedReason(subscription)}
        onClick={() => void navigate({ to: '/subscriptions/$id/edit', params: { id } })}
      >
        Edit
      </Button>
      <Menu
        trigger={<IconButton variant="secondary" label="More actions" icon={<Ellipsis />} />}
        actions={useDialogActions(subscription)}
      />
    </>
  );
}

function Details({ subscription }: { readonly subscription: Subscription }) {
  const { dialog, open, close } = useDialog();
  const refusal = useRefusal('developer');
  const shared = { subscription, onClose: close };
  const isCounting = useMissedWhileOff([subscription]).isPending;
  if (useFirstWait(isCounting))
    return (
      <Loading>
        <SkeletonCard lines={12} />
      </Loading>
    );
  return (
    <>
      <OffBanner subscription={subscription} refusal={refusal} />
      <PausedNotice subscription={subscription} refusal={refusal} />
      {subscription.verification?.state !== 'pending' && <CatchUp subscription={subscription} />}
      <Split
        aside={
          <>
            <SubscriptionFacts
              subscription={subscription}
              refusal={refusal ?? managedReason(subscription)}
              onRotate={() => open('rotate')}
            />
            <Activity kind="subscription" id={subscription.id} />
          </>
        }
      >
        <RecentDeliveries subscriptionId={subscription.id} />
      </Split>
      {refusal === undefined && (
        <>
          <TestDialog open={dialog === 'test'} {...shared} />
          <RotateDialog open={dialog === 'rotate'} {...shared} />
          <DisableDialog open={dialog === 'disable'} {...shared} />
          <DeleteDialog open={dialog === 'delete'} {...shared} />
        </>
      )}
    </>
  );
}

interface SubscriptionFactsProps {
  readonly subscription: Subscription;
  readonly refusal: string | undefined;
  readonly onRotate: () => void;
}

function SubscriptionFacts({ subscription, refusal, onRotate }: SubscriptionFactsProps) {
  const { health, previousSecretUntilUtc: until } = subscription;
  return (
    <>
      <Card title="Settings">
        <Facts
          columns={16}
          facts={{
            URL: (
              <Row gap="xs" nowrap align="flex-start" justify="space-between">
                <code>{subscription.url}</code>
                <CopyButton value={subscription.url} label="Copy URL" />
              </Row>
            ),
            Events: (
              <Row gap="xs">
                {subscription.eventTypes.map((type) => (
                  <Badge key={type} mono>
                    {type}
                  </Badge>
                ))}
              </Row>
            ),
            'Last 24 hours': <HealthBar succeeded={health.succeeded24h} failed={health.failed24h} />,
            'Last success': when(health.lastSuccessUtc),
            'Last failure': when(health.lastFailureUtc),
            ...ruleFacts(subscription),
            Description: subscription.description,
            'Managed by': subscription.managedBy !== null && (
              <Badge tone="info">{subscription.managedBy}</Badge>
            ),
            Created: <Moment time={subscription.createdUtc} />,
            Changed: <TimeAgo time={subscription.updatedUtc} />,
          }}
        />
      </Card>
      <Card title="Signing secret">
        <p>
          {until === null ? (
            'Signs every delivery. It cannot be shown again.'
          ) : (
            <>
              Deliveries carry the signatures of the new and the old secret until <Moment time={until} />.
            </>
          )}
        </p>
        <div>
          <Button size="s" icon={<KeyRound />} disabledReason={refusal} onClick={onRotate}>
            Rotate secret…
          </Button>
        </div>
      </Card>
    </>
  );
}

const when = (time: string | null) => (time === null ? <Quiet>Never</Quiet> : <MinuteAgo time={time} />);

function RecentDeliveries({ subscriptionId }: { readonly subscriptionId: number }) {
  const query = useQuery({
    ...deliveriesQuery({ subscription: subscriptionId }, 8),
    refetchInterval: 15_000,
  });
  return (
    <Card
      flush
      title="Latest deliveries"
      actions={
        <Link to="/deliveries" search={{ subscription: subscriptionId }}>
          All deliveries
        </Link>
      }
    >
      <DeliveryTable
        query={query}
        without="subscription"
        emptyState={
          <Empty title="No deliveries yet">
            The next matching event is delivered here. To try it now, send a test delivery.
          </Empty>
        }
      />
    </Card>
  );
}
