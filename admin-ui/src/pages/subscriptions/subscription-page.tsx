import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ellipsis, FlaskConical, History, Pencil, Power, Trash2 } from 'lucide-react';
import { useRefusal } from '../../app/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Split } from '../../ui/layout.tsx';
import { Menu } from '../../ui/menu.tsx';
import { BackLabel, Page } from '../../ui/page.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { DisableDialog } from './disable-dialog.tsx';
import { MissedNotice } from './missed-notice.tsx';
import { OffBanner } from './off-banner.tsx';
import { subscriptionQuery } from './queries.ts';
import { RecentDeliveries } from './recent-deliveries.tsx';
import { RepairDialog } from './repair-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { isUndecided, managedReason, nameOf, type Subscription, stateOf } from './state.ts';
import { SubscriptionFacts } from './subscription-facts.tsx';
import { SubscriptionHealth } from './subscription-health.tsx';

export function SubscriptionPage() {
  const { id } = useParams({ from: '/in/subscriptions/$id' });
  const query = useQuery({ ...subscriptionQuery(id), refetchInterval: 15_000 });
  const { data } = query;
  const state = data && stateOf(data);
  return (
    <Page
      title={data ? nameOf(data) : 'Subscription'}
      badge={
        state && (
          <Badge tone={state.tone} dot>
            {state.label}
          </Badge>
        )
      }
      back={
        <Link to="/subscriptions">
          <BackLabel>Subscriptions</BackLabel>
        </Link>
      }
      actions={data && <Actions subscription={data} />}
      refreshing={query.isRefetching}
    >
      <Loaded
        query={query}
        skeleton={
          <Split aside={<Placeholder lines={8} />}>
            <Placeholder lines={3} />
            <Placeholder lines={10} />
          </Split>
        }
      >
        {(subscription) => <Details subscription={subscription} />}
      </Loaded>
    </Page>
  );
}

const Placeholder = ({ lines }: { readonly lines: number }) => (
  <Card>
    <SkeletonLines lines={lines} />
  </Card>
);

const useDialog = () => {
  const { dialog } = useSearch({ from: '/in/subscriptions/$id' });
  const navigate = useNavigate({ from: '/subscriptions/$id' });
  return {
    dialog,
    open: (name: NonNullable<typeof dialog>) => void navigate({ search: { dialog: name } }),
    close: () => void navigate({ search: {}, replace: true }),
  };
};

function Actions({ subscription }: { readonly subscription: Subscription }) {
  const { id, enabled } = subscription;
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  const { open } = useDialog();
  return (
    <>
      <Button
        icon={<FlaskConical />}
        disabledReason={refusal}
        onClick={() => void navigate({ to: '/test', search: { subscription: id } })}
      >
        Send test delivery{' '}
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
        actions={[
          {
            label: enabled ? 'Disable…' : 'Enable…',
            icon: <Power />,
            disabledReason: refusal,
            onSelect: () => open(enabled ? 'disable' : 'repair'),
          },
          ...(isUndecided(subscription)
            ? [
                {
                  label: 'Held and missed…',
                  icon: <History />,
                  disabledReason: refusal,
                  onSelect: () => open('repair'),
                },
              ]
            : []),
          'separator',
          {
            label: 'Delete…',
            icon: <Trash2 />,
            danger: true,
            disabledReason: refusal,
            onSelect: () => open('delete'),
          },
        ]}
      />
    </>
  );
}

function Details({ subscription }: { readonly subscription: Subscription }) {
  const { dialog, open, close } = useDialog();
  const refusal = useRefusal('developer');
  const shared = { subscription, onClose: close };
  return (
    <>
      <OffBanner subscription={subscription} refusal={refusal} onRepair={() => open('repair')} />
      <MissedNotice subscription={subscription} refusal={refusal} />
      <Split
        aside={
          <SubscriptionFacts
            subscription={subscription}
            refusal={refusal ?? managedReason(subscription)}
            onRotate={() => open('rotate')}
          />
        }
      >
        <SubscriptionHealth subscription={subscription} />
        <RecentDeliveries subscriptionId={subscription.id} />
      </Split>
      {refusal === undefined && (
        <>
          <RotateDialog open={dialog === 'rotate'} {...shared} />
          <DisableDialog open={dialog === 'disable'} {...shared} />
          <DeleteDialog open={dialog === 'delete'} {...shared} />
          <RepairDialog open={dialog === 'repair'} {...shared} />
        </>
      )}
    </>
  );
}
