import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Input } from '../../model/client.ts';
import { KindChoices } from '../../model/kind-choices.tsx';
import { type Channels, channelNames, noticeChannelsQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { ActButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, SecretDialog } from '../../ui/dialog.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Field, Fieldset, Form, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Badge, Cut, TimeAgo } from '../../ui/values.tsx';

type Channel = Channels['channels'][number];
type ChannelName = Channel['channel'];

const descriptions: Readonly<Record<ChannelName, string>> = {
  webhook:
    'Signed posts of the types operational.*, with a secret of their own. The contract describes them.',
  slack: 'An incoming-webhook URL of Slack, or of a service that understands the same posts.',
};

const noAnswer = 'no answer';

export function ChannelCards() {
  const query = useQuery(noticeChannelsQuery);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Loaded query={query}>
      {(data) => (
        <Stack>
          {(['webhook', 'slack'] as const).map((name) => (
            <ChannelCard key={name} name={name} data={data} onSecret={setSecret} />
          ))}
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

interface ChannelProps {
  readonly name: ChannelName;
  readonly data: Channels;
  readonly onSecret: (secret: string) => void;
}

const channelOf = ({ name, data }: ChannelProps): Channel | undefined =>
  data.channels.find((one) => one.channel === name);

type Change = Omit<Input<'updateNoticeChannel'>['body'], 'channel'>;

const useChange = ({ name, onSecret }: ChannelProps) => {
  return async (change: Change): Promise<void> => {
    const { signingSecret, ...channels } = await call('updateNoticeChannel', {
      body: { channel: name, ...change },
    });
    queryClient.setQueryData(noticeChannelsQuery.queryKey, channels);
    if (signingSecret !== null) onSecret(signingSecret);
  };
};

function ChannelCard(props: ChannelProps) {
  const { name } = props;
  const channel = channelOf(props);
  const change = useChange(props);
  const test = async (): Promise<void> => {
    const { success, statusCode, error } = await call('testNoticeChannel', { body: { channel: name } });
    if (success) return;
    const why = statusCode === null ? (error ?? noAnswer) : `status ${statusCode}`;
    throw new Error(`The test failed: ${why}.`);
  };
  const edit = (
    <DialogButton
      name={name}
      size="s"
      dialog={(shown) => (
        <Dialog {...shown} title={channelNames[name]} description={descriptions[name]}>
          <ChannelForm {...props} onClose={shown.onClose} />
        </Dialog>
      )}
    >
      {channel ? 'Edit…' : 'Add channel…'}
    </DialogButton>
  );
  return (
    <Card
      title={channelNames[name]}
      description={channel ? <Cut text={channel.url} /> : descriptions[name]}
      actions={
        channel ? (
          <Row>
            <ActButton size="s" act={test} done="Test accepted">
              Send test
            </ActButton>
            {edit}
            {name === 'webhook' && (
              <DialogButton
                size="s"
                dialog={(shown) => (
                  <ConfirmDialog
                    {...shown}
                    title="Rotate the secret?"
                    confirm="Rotate secret"
                    danger
                    act={() => change({ newSecret: true })}
                    done="Secret rotated; the earlier one has ended"
                  >
                    The present secret ends at once: your receiver refuses posts until it has the new one.
                  </ConfirmDialog>
                )}
              >
                Rotate secret…
              </DialogButton>
            )}
            <DialogButton
              size="s"
              dialog={(shown) => (
                <ConfirmDialog
                  {...shown}
                  title={`Remove ${channelNames[name]}?`}
                  confirm="Remove channel"
                  danger
                  act={() => change({ url: null })}
                  done="Channel removed"
                >
                  Nothing more is posted there.
                </ConfirmDialog>
              )}
            >
              Remove…
            </DialogButton>
          </Row>
        ) : (
          edit
        )
      }
    >
      {channel?.last && (
        <p>
          <Badge tone={channel.last.error === null ? 'good' : 'bad'} dot>
            {channel.last.error === null ? 'Accepted' : `Failed: ${channel.last.statusCode ?? noAnswer}`}
          </Badge>{' '}
          <Quiet small>
            latest post <TimeAgo time={channel.last.utc} />
          </Quiet>
        </p>
      )}
    </Card>
  );
}

const labels = { url: 'URL', kinds: 'Tells of' };

function ChannelForm(props: ChannelProps & { readonly onClose: () => void }) {
  const { name, data, onClose } = props;
  const channel = channelOf(props);
  // Of a Slack URL, which is secret, the server shows a part only: an empty field keeps it.
  const isSecret = name === 'slack';
  const stored = {
    url: isSecret ? '' : (channel?.url ?? ''),
    kinds: channel?.kinds ?? data.kinds.map(({ kind }) => kind),
  };
  const draft = useDraft(`channels/${name}`, stored, labels, isSecret ? ['url'] : []);
  const { url, kinds } = draft.values;
  const change = useChange(props);
  return (
    <Form
      draft={draft}
      act={() => change({ kinds, ...(url !== stored.url || !channel ? { url } : {}) })}
      done="Channel saved"
      onDone={onClose}
      submit={channel ? 'Save channel' : 'Add channel'}
      onCancel={onClose}
    >
      <Field
        label={`URL of ${channelNames[name]}`}
        name="url"
        hint={channel && isSecret ? `Now ${channel.url}. Leave it empty to keep it.` : undefined}
      >
        <TextInput type="url" inputMode="url" mono {...draft.bind('url')} />
      </Field>
      <Fieldset legend="Tells of">
        <KindChoices
          offered={data.kinds}
          chosen={kinds}
          onChange={(changed, on) =>
            draft.set({
              kinds: [...kinds.filter((kind) => !changed.includes(kind)), ...(on ? changed : [])],
            })
          }
        />
      </Fieldset>
    </Form>
  );
}
