import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, useMutation } from '../../model/client.ts';
import { type Channels, noticeChannelsQuery } from '../../model/notices.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, SecretDialog } from '../../ui/dialog.tsx';
import { fieldError } from '../../ui/errors.ts';
import { Field, Fieldset, Form, TextInput } from '../../ui/form.tsx';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Loaded, SkeletonCard } from '../../ui/states.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Badge, TimeAgo } from '../../ui/values.tsx';
import { KindChoices } from './kind-choices.tsx';

type Channel = Channels['channels'][number];
type ChannelName = Channel['channel'];

const names: Readonly<Record<ChannelName, string>> = { webhook: 'Operational webhook', slack: 'Slack' };
const descriptions: Readonly<Record<ChannelName, string>> = {
  webhook:
    'Signed posts of the types operational.*, with a secret of their own. The contract describes them.',
  slack: 'An incoming-webhook URL of Slack, or of a service that understands the same posts.',
};

const noAnswer = (): string => 'no answer';

export function ChannelCards() {
  const query = useQuery(noticeChannelsQuery);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Loaded query={query} skeleton={<SkeletonCard lines={8} />}>
      {(data) => (
        <Stack>
          {(['webhook', 'slack'] as const).map((name) => {
            const channel = data.channels.find((one) => one.channel === name);
            // Saving resets the form.
            const key = `${name} ${channel?.url} ${channel?.kinds}`;
            return <ChannelCard key={key} {...{ name, channel, data }} onSecret={setSecret} />;
          })}
          {secret !== null && (
            <SecretDialog
              title="Signing secret of the operational webhook"
              name="secret"
              value={secret}
              onClose={() => setSecret(null)}
            />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

interface ChannelCardProps {
  readonly name: ChannelName;
  readonly channel: Channel | undefined;
  readonly data: Channels;
  readonly onSecret: (secret: string) => void;
}

function ChannelCard({ name, channel, data, onSecret }: ChannelCardProps) {
  // Of a Slack URL, the server shows a part only: an empty field keeps it.
  const known = name === 'webhook' ? (channel?.url ?? '') : '';
  const [url, setUrl] = useState(known);
  const [kinds, setKinds] = useState(channel?.kinds ?? data.kinds.map(({ kind }) => kind));
  const [asking, setAsking] = useState<'rotate' | 'remove'>();
  const queryClient = useQueryClient();
  const done =
    (title: string) =>
    ({ signingSecret, ...channels }: Answer<'updateNoticeChannel'>): void => {
      setAsking(undefined);
      queryClient.setQueryData(noticeChannelsQuery.queryKey, channels);
      if (signingSecret !== null) onSecret(signingSecret);
      toast(title);
    };
  const save = useMutation({
    mutationFn: () =>
      call('updateNoticeChannel', {
        body: { channel: name, kinds, ...(url !== known || !channel ? { url } : {}) },
      }),
    gcTime: 0,
    onSuccess: done('Channel saved'),
  });
  const rotate = useMutation({
    mutationFn: () => call('updateNoticeChannel', { body: { channel: name, newSecret: true } }),
    gcTime: 0,
    onSuccess: done('Secret rotated; the earlier one has ended'),
  });
  const remove = useMutation({
    mutationFn: () => call('updateNoticeChannel', { body: { channel: name, url: null } }),
    onSuccess: done('Channel removed'),
  });
  const test = useMutation({
    mutationFn: () => call('testNoticeChannel', { body: { channel: name } }),
    onSuccess: ({ success, statusCode, error }) =>
      success
        ? toast('Test accepted')
        : toastError(
            new Error(
              statusCode === null
                ? `The test failed: ${error ?? noAnswer()}.`
                : `The test failed: status ${statusCode}.`,
            ),
          ),
    onError: toastError,
  });
  return (
    <Card
      title={names[name]}
      description={descriptions[name]}
      actions={
        channel && (
          <Row>
            <Button size="s" pending={test.isPending} onClick={() => test.mutate()}>
              Send test
            </Button>
            {name === 'webhook' && (
              <Button size="s" onClick={() => setAsking('rotate')}>
                Rotate secret…
              </Button>
            )}
            <Button size="s" onClick={() => setAsking('remove')}>
              Remove…
            </Button>
          </Row>
        )
      }
    >
      <Form mutation={save} fields={['url']} submit={channel ? 'Save channel' : 'Add channel'}>
        {channel?.last && (
          <p>
            <Badge tone={channel.last.error === null ? 'good' : 'bad'} dot>
              {channel.last.error === null ? 'Accepted' : `Failed: ${channel.last.statusCode ?? noAnswer()}`}
            </Badge>{' '}
            <Quiet small>
              latest post <TimeAgo time={channel.last.utc} />
            </Quiet>
          </p>
        )}
        <Field
          label={`URL of ${names[name]}`}
          hint={channel && name === 'slack' ? `Now ${channel.url}. Leave it empty to keep it.` : undefined}
          error={fieldError(save.error, 'url')}
        >
          <TextInput type="url" inputMode="url" mono value={url} onValue={setUrl} />
        </Field>
        <Fieldset legend="Tells of">
          <KindChoices
            offered={data.kinds}
            chosen={kinds}
            onChange={(changed, on) =>
              setKinds([...kinds.filter((kind) => !changed.includes(kind)), ...(on ? changed : [])])
            }
          />
        </Fieldset>
      </Form>
      <ConfirmDialog
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={asking === 'remove' ? `Remove ${names[name]}?` : 'Rotate the secret?'}
        confirm={asking === 'remove' ? 'Remove channel' : 'Rotate secret'}
        danger
        mutation={asking === 'remove' ? remove : rotate}
      >
        {asking === 'remove'
          ? 'Nothing more is posted there.'
          : 'The present secret ends at once: your receiver refuses posts until it has the new one.'}
      </ConfirmDialog>
    </Card>
  );
}
