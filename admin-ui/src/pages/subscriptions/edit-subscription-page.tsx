import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { call } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { Card } from '../../ui/card.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { BackLabel, Page } from '../../ui/page.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { subscriptionQuery, subscriptionsQuery } from './queries.ts';
import { managedReason, nameOf, type Subscription } from './state.ts';
import { type Draft, SubscriptionForm } from './subscription-form.tsx';

export function EditSubscriptionPage() {
  const { id } = useParams({ from: '/in/subscriptions/$id/edit' });
  const query = useQuery(subscriptionQuery(id));
  return (
    <Page
      title="Edit subscription"
      back={
        <Link to="/subscriptions/$id" params={{ id }}>
          <BackLabel>{query.data ? nameOf(query.data) : 'Subscription'}</BackLabel>
        </Link>
      }
    >
      <Loaded
        query={query}
        skeleton={
          <Card>
            <SkeletonLines lines={14} />
          </Card>
        }
      >
        {(subscription) => <Edit key={subscription.id} subscription={subscription} />}
      </Loaded>
    </Page>
  );
}

function Edit({ subscription }: { readonly subscription: Subscription }) {
  const { id } = subscription;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const refusal = useRefusal('developer') ?? managedReason(subscription);
  const update = useMutation({
    mutationFn: ({ url, name, description, eventTypes }: Draft) =>
      call('updatePortalSubscription', {
        params: { id },
        body: {
          url,
          eventTypes: [...eventTypes],
          name: name.trim() || null,
          description: description.trim() || null,
        },
      }),
    meta: { invalidates: [subscriptionsQuery.queryKey] },
    onSuccess: (changed) => {
      queryClient.setQueryData(subscriptionQuery(id).queryKey, changed);
      toast('Saved');
      void navigate({ to: '/subscriptions/$id', params: { id } });
    },
  });
  if (refusal) return <Notice tone="info">{refusal}.</Notice>;
  return (
    <SubscriptionForm
      initial={{
        name: subscription.name ?? '',
        url: subscription.url,
        description: subscription.description ?? '',
        eventTypes: subscription.eventTypes,
        enabled: subscription.enabled,
      }}
      asksEnabled={false}
      submit="Save changes"
      mutation={update}
      secondary={
        <LinkButton to="/subscriptions/$id" params={{ id }}>
          Cancel
        </LinkButton>
      }
    />
  );
}
