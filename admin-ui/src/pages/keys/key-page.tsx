import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ban, Pencil, RotateCw } from 'lucide-react';
import { call, useMutation } from '../../model/client.ts';
import { type KeyChange, KeyForm } from '../../model/key-form.tsx';
import { keyQuery, keyUseQuery, type UsageRange, usageQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { type ApiKey, keyState, scopeWords } from '../../model/scopes.ts';
import { useRefusal } from '../../model/session.ts';
import { BucketBar, bucketLabels, RangeChoice, UsageChart } from '../../model/usage.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useDialog } from '../../ui/dialog-button.tsx';
import { changedMeanwhile } from '../../ui/form.tsx';
import { number } from '../../ui/format.ts';
import { BackLink, Card, CodeLines, Facts, Page, Quiet, Split, Stack } from '../../ui/layout.tsx';
import { RowMenu } from '../../ui/menu.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.ts';
import { MinuteAgo, Moment, StateBadge, useNow } from '../../ui/values.tsx';
import { type KeyDialogProps, RevokeKey, RotateKey, Rotation } from './key-dialogs.tsx';
import { KeyRequests } from './key-requests.tsx';

export function KeyPage() {
  const { id } = useParams({ from: '/in/keys/$id' });
  const { range = '30d', status, cursor } = useSearch({ from: '/in/keys/$id' });
  const navigate = useNavigate({ from: '/keys/$id' });
  const refusal = useRefusal('developer');
  const now = useNow();
  const query = useQuery(keyQuery(id));
  const key = query.data;
  const { dialog, open, close } = useDialog();
  return (
    <Page
      title={key?.name ?? 'API key'}
      kind="API key"
      badge={key && <StateBadge {...keyState(key, now)} />}
      back={<BackLink to="/keys">API keys</BackLink>}
      refreshing={query.isRefetching}
      actions={
        key?.isActive && (
          <>
            <Button icon={<Pencil />} disabledReason={refusal} onClick={() => open('edit')}>
              Edit
            </Button>
            <Button icon={<RotateCw />} disabledReason={refusal} onClick={() => open('rotate')}>
              Rotate…
            </Button>
            <RowMenu
              label={key.name}
              actions={[
                {
                  label: 'Revoke…',
                  icon: <Ban />,
                  danger: true,
                  disabledReason: refusal,
                  onSelect: () => open('revoke'),
                },
              ]}
            />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(found) =>
          found === null ? (
            <Empty
              title="This key does not exist"
              action={<LinkButton to="/keys">All API keys</LinkButton>}
            />
          ) : (
            <Split aside={<KeyFacts apiKey={found} mayLook={refusal === undefined} />}>
              <Rotation apiKey={found} refusal={refusal} />
              <KeyUse
                id={id}
                range={range}
                onRange={(to) =>
                  void navigate({ search: { range: to === '30d' ? undefined : to }, replace: true })
                }
              />
              {refusal === undefined && (
                <KeyRequests
                  {...{ id, status, cursor }}
                  onShow={(to) =>
                    void navigate({
                      search: (now) => ({ range: now.range, ...to }),
                      replace: true,
                      resetScroll: false,
                    })
                  }
                />
              )}
            </Split>
          )
        }
      </Loaded>
      {key?.isActive && refusal === undefined && (
        <>
          <EditKey open={dialog === 'edit'} apiKey={key} onClose={close} />
          <RotateKey open={dialog === 'rotate'} apiKey={key} onClose={close} />
          <RevokeKey apiKey={dialog === 'revoke' ? key : undefined} onClose={close} />
        </>
      )}
    </Page>
  );
}

interface KeyUseProps {
  readonly id: number;
  readonly range: UsageRange;
  readonly onRange: (range: UsageRange) => void;
}

function KeyUse({ id, range, onRange }: KeyUseProps) {
  const usage = useQuery(usageQuery(range, id));
  return (
    <>
      <div>
        <RangeChoice value={range} onChange={onRange} />
      </div>
      <UsageChart usage={usage} />
      <Card title="Busiest minutes" description="Beside the limit of each kind of request.">
        <Loaded query={usage}>
          {({ keys }) =>
            keys[0] === undefined ? (
              <Quiet>Not used in this period.</Quiet>
            ) : (
              keys[0].buckets.map((bucket) => <BucketBar key={bucket.bucket} bucket={bucket} />)
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function KeyFacts({ apiKey, mayLook }: { readonly apiKey: ApiKey; readonly mayLook: boolean }) {
  const { data: use } = useQuery({ ...keyUseQuery(apiKey.id), enabled: mayLook });
  const { id, masked, note, scopes, createdUtc, lastUsedUtc, expiresUtc, revokedUtc, limits, networks } =
    apiKey;
  const own = Object.entries(limits).filter(([, limit]) => limit !== null);
  return (
    <Card title="About">
      <Facts
        columns={16}
        facts={{
          Key: <code>{masked}</code>,
          Note: note !== null && <span dir="auto">{note}</span>,
          Permissions: (
            <Stack gap="xs">
              {scopes.map((scope) => (
                <span key={scope}>
                  {scopeWords[scope].label} <Quiet small>{scope}</Quiet>
                </span>
              ))}
            </Stack>
          ),
          Networks: networks?.length > 0 && <CodeLines lines={networks} />,
          'Last used': lastUsedUtc === null ? 'Never' : <MinuteAgo time={lastUsedUtc} />,
          From: use?.last != null && <code>{use.last.address}</code>,
          Expires: revokedUtc === null && (expiresUtc === null ? 'Never' : <Moment time={expiresUtc} />),
          Revoked: revokedUtc !== null && <Moment time={revokedUtc} />,
          Created: <Moment time={createdUtc} />,
          'Own limits':
            own.length > 0 &&
            own
              .map(([bucket, limit]) => {
                const kind = bucketLabels[bucket as keyof typeof limits];
                return `${kind}: ${number(limit!)} a minute`;
              })
              .join('; '),
          ID: id,
        }}
      />
      <Quiet small>
        <Link to="/audit" search={{ kind: 'key', target: String(apiKey.id) }}>
          Who changed it
        </Link>{' '}
        ·{' '}
        <Link to="/usage" search={{ key: apiKey.id }}>
          Usage by operation
        </Link>
      </Quiet>
    </Card>
  );
}

function EditKey({ open, apiKey, onClose }: KeyDialogProps) {
  const { id } = apiKey;
  const update = useMutation({
    mutationFn: async (change: KeyChange) =>
      Object.keys(change.basedOn ?? {}).length > 0
        ? call('updateApiKey', { params: { id }, body: change })
        : undefined,
    // The form asks about fields that somebody else has changed as well.
    onError: (error) => {
      const changed = changedMeanwhile(error);
      if (changed)
        queryClient.setQueryData(keyQuery(id).queryKey, {
          ...{ keys: [{ ...apiKey, ...changed }], nextCursor: null, hasMore: false },
        });
    },
    meta: { saves: `keys/${id}` },
    onSuccess: () => {
      toast('Key changed');
      onClose();
    },
  });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Edit the API key"
      description="New permissions apply to every request from now on."
    >
      <KeyForm
        form={`keys/${id}`}
        initial={apiKey}
        mutation={update}
        submit="Save changes"
        onCancel={onClose}
      />
    </Dialog>
  );
}
