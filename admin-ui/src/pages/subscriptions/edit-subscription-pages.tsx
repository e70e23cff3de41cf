import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call, type Input, useMutation } from '../../api/client.ts';
import { useRefusal } from '../../app/session.ts';
import { ApiError } from '../../errors.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { SecretDialog } from '../../ui/dialog.tsx';
import { BackLink, Facts, Page } from '../../ui/layout.tsx';
import { Loaded, Notice, SkeletonCard } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { subscriptionQuery, subscriptionsQuery } from '../queries.ts';
import { type Draft, emptyDraft, SubscriptionForm } from './subscription-form.tsx';
import { managedReason, nameOf, type Subscription } from './subscriptions.ts';

type CreatedSubscription = Answer<'createPortalSubscription'>;

export function NewSubscriptionPage() {
  const [made, setMade] = useState<CreatedSubscription | null>(null);
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
    <Page title="Add a subscription" back={<BackLink to="/subscriptions">Subscriptions</BackLink>}>
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
      <Loaded query={query} skeleton={<SkeletonCard lines={14} />}>
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
  // What the form was filled with. A refresh does not change it, or saving would revert what others have saved.
  const [known, setKnown] = useState<Fields>(subscription);
  const update = useMutation({
    mutationFn: ({ draft, known }: { readonly draft: Fields; readonly known: Fields }) => {
      const names = fieldNames.filter((name) => String(draft[name] ?? '') !== String(known[name] ?? ''));
      const only = (of: Fields): Partial<Fields> => Object.fromEntries(names.map((name) => [name, of[name]]));
      if (names.length === 0) return Promise.resolve(subscription);
      return call('updatePortalSubscription', {
        params: { id },
        body: { ...only(draft), basedOn: only(known) } as Input<'updatePortalSubscription'>['body'],
      });
    },
    meta: { invalidates: [subscriptionsQuery.queryKey] },
    onSuccess: (changed) => {
      queryClient.setQueryData(subscriptionQuery(id).queryKey, changed);
      toast('Saved');
      void navigate({ to: '/subscriptions/$id', params: { id } });
    },
  });
  const conflict = conflictOf(update.error);
  const save = (draft: Draft, from = known): void => update.mutate({ draft: fieldsOf(draft), known: from });
  if (refusal) return <Notice tone="info">{refusal}.</Notice>;
  return (
    <SubscriptionForm
      initial={draftOf(subscription)}
      asksEnabled={false}
      ownId={id}
      submit="Save changes"
      mutation={{ isPending: update.isPending, error: conflict ? null : update.error, mutate: save }}
      notice={
        conflict &&
        ((draft, set) => {
          const now = { ...known, ...conflict };
          return (
            <Conflict
              stored={conflict}
              draft={fieldsOf(draft)}
              onOverwrite={() => {
                setKnown(now);
                save(draft, now);
              }}
              onTakeStored={() => {
                setKnown(now);
                set(draftOf({ ...fieldsOf(draft), ...conflict, enabled: draft.enabled }));
                update.reset();
              }}
            />
          );
        })
      }
      secondary={
        <LinkButton to="/subscriptions/$id" params={{ id }}>
          Cancel
        </LinkButton>
      }
    />
  );
}

const fieldNames = ['url', 'name', 'eventTypes', 'description'] as const;
type Fields = Pick<Subscription, (typeof fieldNames)[number]>;

const fieldLabels: Readonly<Record<keyof Fields, string>> = {
  url: 'URL',
  name: 'Name',
  eventTypes: 'Events to send',
  description: 'Description',
};

const draftOf = ({ name, url, description, eventTypes, enabled }: Fields & { enabled: boolean }): Draft => ({
  name: name ?? '',
  url,
  description: description ?? '',
  eventTypes,
  enabled,
});

const fieldsOf = ({ name, url, description, eventTypes }: Draft): Fields => ({
  url: url.trim(),
  name: name.trim() || null,
  eventTypes: [...eventTypes],
  description: description.trim() || null,
});

const conflictOf = (error: unknown): Partial<Fields> | undefined =>
  error instanceof ApiError ? (error.extra.changed as Partial<Fields> | undefined) : undefined;

interface ConflictProps {
  readonly stored: Partial<Fields>;
  readonly draft: Fields;
  readonly onOverwrite: () => void;
  readonly onTakeStored: () => void;
}

function Conflict({ stored, draft, onOverwrite, onTakeStored }: ConflictProps) {
  const show = (value: Fields[keyof Fields] | undefined): string =>
    String(value ?? '(empty)').replaceAll(',', ', ');
  return (
    <Notice
      tone="bad"
      title="Not saved: someone changed the same fields meanwhile"
      actions={
        <>
          <Button size="s" onClick={onTakeStored}>
            Keep the saved values
          </Button>
          <Button size="s" onClick={onOverwrite}>
            Overwrite with yours
          </Button>
        </>
      }
    >
      <Facts
        facts={fieldNames
          .filter((name) => name in stored)
          .flatMap((name) => [
            { label: `${fieldLabels[name]}, saved`, value: show(stored[name]) },
            { label: `${fieldLabels[name]}, yours`, value: show(draft[name]) },
          ])}
      />
    </Notice>
  );
}
