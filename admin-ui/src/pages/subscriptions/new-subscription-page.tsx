import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call, useMutation } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { LinkButton } from '../../ui/link-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { BackLabel, Page } from '../../ui/page.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { subscriptionsQuery } from '../queries.ts';
import { type Draft, emptyDraft, SubscriptionForm } from './subscription-form.tsx';

type Made = Answer<'createPortalSubscription'>;

export function NewSubscriptionPage() {
  const [made, setMade] = useState<Made | null>(null);
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: ({ name, description, eventTypes, ...draft }: Draft) =>
      call('createPortalSubscription', {
        body: {
          ...draft,
          eventTypes: [...eventTypes],
          ...(name.trim() ? { name } : {}),
          ...(description.trim() ? { description } : {}),
        },
      }),
    gcTime: 0,
    meta: { invalidates: [subscriptionsQuery.queryKey] },
    onSuccess: setMade,
  });
  return (
    <Page
      title="Add a subscription"
      back={
        <Link to="/subscriptions">
          <BackLabel>Subscriptions</BackLabel>
        </Link>
      }
    >
      {refusal ? (
        <Notice tone="info">{refusal}</Notice>
      ) : (
        <SubscriptionForm
          initial={emptyDraft}
          asksEnabled
          submit="Add subscription"
          mutation={create}
          secondary={<LinkButton to="/subscriptions">Cancel</LinkButton>}
        />
      )}
      {made && (
        <SecretDialog
          title="The signing secret"
          name="signing secret"
          value={made.signingSecret}
          onClose={() => void navigate({ to: '/subscriptions/$id', params: { id: made.id } })}
        >
          <p>
            Your receiver uses it to verify that a delivery comes from this service.{' '}
            <Link to="/developers" search={{ tab: 'signatures' }} target="_blank">
              How to verify a signature
            </Link>
          </p>
        </SecretDialog>
      )}
    </Page>
  );
}
