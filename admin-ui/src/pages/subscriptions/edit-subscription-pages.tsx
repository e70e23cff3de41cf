import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call, type Input, useMutation } from '../../model/client.ts';
import { subscriptionQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { useRefusal } from '../../model/session.ts';
import { managedReason, nameOf, type Subscription } from '../../model/subscriptions.ts';
import { LinkButton } from '../../ui/button.tsx';
import { SecretDialog } from '../../ui/dialog.tsx';
import { changedMeanwhile } from '../../ui/form.tsx';
import { changeOf, useDraft } from '../../ui/form-draft.ts';
import { BackLink, Page } from '../../ui/layout.tsx';
import { Loaded, Notice } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { conditionsOf, headersOf, type Kinds, paceOf, rulesDraftOf } from './rule-drafts.ts';
import { useKinds } from './rule-fields.tsx';
import { draftLabels, emptyDraft, type SubscriptionDraft, SubscriptionForm } from './subscription-form.tsx';

type CreatedSubscription = Answer<'createPortalSubscription'>;

export function NewSubscriptionPage() {
  const [made, setMade] = useState<CreatedSubscription | null>(null);
  const refusal = useRefusal('developer');
  const navigate = useNavigate();
  const draft = useDraft('subscriptions/new', emptyDraft, draftLabels, ['headers']);
  const kinds = useKinds(draft.values.eventTypes);
  const create = useMutation({
    mutationFn: ({ name, description, url, eventTypes, enabled, ...rules }: SubscriptionDraft) =>
      call('createPortalSubscription', {
        body: {
          url,
          enabled,
          eventTypes: [...eventTypes],
          ...(rules.conditions.length > 0 && { conditions: conditionsOf(rules.conditions, kinds) }),
          ...(rules.pace.per !== 'none' && { pace: paceOf(rules.pace) }),
          ...(rules.headers.length > 0 && { headers: headersOf([], rules.headers) }),
          ...(name.trim() ? { name } : {}),
          ...(description.trim() ? { description } : {}),
        },
      }),
    gcTime: 0,
    meta: { saves: 'subscriptions/new' },
    onSuccess: setMade,
  });
  return (
    <Page title="Add a subscription" back={<BackLink to="/subscriptions">Subscriptions</BackLink>}>
      {refusal ? (
        <Notice tone="info">{refusal}</Notice>
      ) : (
        <SubscriptionForm
          draft={draft}
          asksEnabled
          submit="Add subscription"
          mutation={create}
          secondary={
            <LinkButton to="/subscriptions" onClick={draft.discard}>
              Cancel
            </LinkButton>
          }
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
            <a href="/docs/webhooks" target="_blank" rel="noreferrer">
              How to verify a signature
            </a>
          </p>
        </SecretDialog>
      )}
    </Page>
  );
}

export function EditSubscriptionPage() {
  const { id } = useParams({ from: '/in/subscriptions/$id/edit' });
  const query = useQuery(subscriptionQuery(id));
  return (
    <Page
      title="Edit subscription"
      back={
        <BackLink to="/subscriptions/$id" params={{ id }}>
          {query.data ? nameOf(query.data) : 'Subscription'}
        </BackLink>
      }
    >
      <Loaded query={query}>
        {(subscription) => <Edit key={subscription.id} subscription={subscription} />}
      </Loaded>
    </Page>
  );
}

function Edit({ subscription }: { readonly subscription: Subscription }) {
  const { id } = subscription;
  const navigate = useNavigate();
  const refusal = useRefusal('developer') ?? managedReason(subscription);
  const form = `subscriptions/${id}`;
  const draft = useDraft(form, draftOf(subscription), draftLabels, ['headers']);
  const kinds = useKinds(draft.values.eventTypes);
  const { queryKey } = subscriptionQuery(id);
  const update = useMutation({
    mutationFn: () => {
      if (draft.changed.length === 0) return Promise.resolve(subscription);
      const hasHeaders = draft.changed.includes('headers');
      const { basedOn, ...fields } = changeOf(draft, (values) => fieldsOf(values, kinds));
      return call('updatePortalSubscription', {
        params: { id },
        body: {
          ...fields,
          ...(hasHeaders && { headers: headersOf(draft.base.headers, draft.values.headers) }),
          basedOn: {
            ...basedOn,
            ...(hasHeaders && { headerNames: draft.base.headers.map(({ name }) => name) }),
          },
        } as Input<'updatePortalSubscription'>['body'],
      });
    },
    meta: { saves: form },
    onError: (error) => {
      const changed = changedMeanwhile(error);
      // A rule that was removed is absent from a subscription.
      const stored = Object.entries(changed ?? {}).map(([name, value]) => [
        name,
        value === null && (name === 'conditions' || name === 'pace') ? undefined : value,
      ]);
      if (changed) queryClient.setQueryData(queryKey, { ...subscription, ...Object.fromEntries(stored) });
    },
    onSuccess: (changed) => {
      queryClient.setQueryData(queryKey, changed);
      toast('Saved');
      void navigate({ to: '/subscriptions/$id', params: { id } });
    },
  });
  if (refusal) return <Notice tone="info">{refusal}.</Notice>;
  return (
    <SubscriptionForm
      draft={draft}
      asksEnabled={false}
      ownId={id}
      submit="Save changes"
      mutation={{ ...update, mutate: () => update.mutate() }}
      secondary={
        <LinkButton to="/subscriptions/$id" params={{ id }} onClick={draft.discard}>
          Cancel
        </LinkButton>
      }
    />
  );
}

type Fields = Pick<
  Input<'updatePortalSubscription'>['body'],
  'url' | 'name' | 'eventTypes' | 'description' | 'conditions' | 'pace'
>;

const draftOf = (subscription: Subscription): SubscriptionDraft => {
  const { name, url, description, eventTypes, enabled } = subscription;
  return {
    ...{ name: name ?? '', url, description: description ?? '', eventTypes, enabled },
    ...rulesDraftOf(subscription),
  };
};

const fieldsOf = (
  { name, url, description, eventTypes, conditions, pace }: SubscriptionDraft,
  kinds: Kinds,
): Fields => ({
  url: url.trim(),
  name: name.trim() || null,
  eventTypes: [...eventTypes],
  description: description.trim() || null,
  conditions: conditionsOf(conditions, kinds),
  pace: paceOf(pace),
});
