import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Answer, operationQuery } from '../../model/client.ts';
import { channelNames } from '../../model/queries.ts';
import { type Role, roleAtLeast } from '../../model/session.ts';
import { errorText } from '../../ui/errors.ts';
import { Checkbox, Fieldset } from '../../ui/form.tsx';
import { plural } from '../../ui/format.ts';
import { Quiet, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { MinuteAgo } from '../../ui/values.tsx';
import s from './member-work.module.css';

type Channel = Answer<'listMemberWork'>['channels'][number]['channel'];

/** What stays; all else that a member made, and may not make any more, ends. */
export interface Keep {
  readonly keys: readonly number[];
  readonly subscriptions: readonly number[];
  readonly channels: readonly Channel[];
}

export const nothing: Keep = { keys: [], subscriptions: [], channels: [] };

interface WorkChoiceProps {
  readonly memberId: number;
  readonly name: string;
  /** The new role; null: removed. */
  readonly to: Role | null;
  readonly keep: Keep;
  readonly onChange: (keep: Keep) => void;
}

/** Members know the values of their keys, and where what they set up sends the company's data. */
export function WorkChoice({ memberId, name, to, keep, onChange }: WorkChoiceProps) {
  const keysOfMember = useQuery(operationQuery('listMemberKeys', { params: { id: memberId } }));
  const workOfMember = useQuery(operationQuery('listMemberWork', { params: { id: memberId } }));
  const error = keysOfMember.error ?? workOfMember.error;
  if (error) return <Notice tone="bad">{errorText(error)}</Notice>;
  if (!keysOfMember.data || !workOfMember.data) return <Quiet small>Loading what they created…</Quiet>;
  const { keys } = keysOfMember.data;
  const { links, secrets, ...work } = workOfMember.data;
  const isViewer = to === null || !roleAtLeast(to, 'developer');
  const subscriptions = isViewer ? work.subscriptions.filter(({ enabled }) => enabled) : [];
  const channels = to === null || !roleAtLeast(to, 'admin') ? work.channels : [];
  return (
    <Stack>
      {(keys.length > 0 || links > 0 || secrets.length > 0) && (
        <p dir="auto">
          {`${name} knows ${plural(keys.length, '# API key')}, ${plural(links, '# link to a delivery', '# links to deliveries')} and ${plural(secrets.length, '# signing secret')}. What is checked ends.`}
        </p>
      )}
      <p>
        {isViewer && links > 0
          ? 'Invitations, reset links and links to deliveries that they created stop working.'
          : 'Invitations and reset links that they created stop working.'}
      </p>
      <Choices
        legend={`Revoke ${plural(keys.length, '# API key')} they created`}
        hint="They know the values of these keys. A revoked key stops working at once and cannot be restored."
        items={keys.map((key) => ({
          id: key.id,
          label: key.name,
          description: (
            <>
              <code>{key.masked}</code>,{' '}
              {key.lastUsedUtc === null ? (
                'never used'
              ) : (
                <>
                  last used <MinuteAgo time={key.lastUsedUtc} />
                </>
              )}
            </>
          ),
        }))}
        keep={keep.keys}
        onChange={(kept) => onChange({ ...keep, keys: kept })}
      />
      <Choices
        legend={`Switch off ${plural(subscriptions.length, '# subscription')} they created or moved`}
        hint="They chose where these send the company’s events. Deliveries are held until you enable the subscription again."
        items={subscriptions.map(({ id, name, url }) => ({
          id,
          label: name ?? url,
          description: <code>{url}</code>,
        }))}
        keep={keep.subscriptions}
        onChange={(kept) => onChange({ ...keep, subscriptions: kept })}
      />
      <Choices
        legend={`Remove ${plural(channels.length, '# company channel')} they set up`}
        hint="They chose where notifications of the company are posted."
        items={channels.map(({ channel, url }) => ({
          id: channel,
          label: channelNames[channel],
          description: <code>{url}</code>,
        }))}
        keep={keep.channels}
        onChange={(kept) => onChange({ ...keep, channels: kept })}
      />
      {isViewer && secrets.length > 0 && (
        <Notice tone="warn" title={`They saw ${plural(secrets.length, '# signing secret')}`}>
          Rotate what stays in use:{' '}
          {secrets.map(({ id, name, url }, at) => (
            <span key={id}>
              {at > 0 && ', '}
              <Link to="/subscriptions/$id" params={{ id }} search={{ dialog: 'rotate' }} target="_blank">
                <bdi>{name ?? url}</bdi>
              </Link>
            </span>
          ))}
        </Notice>
      )}
    </Stack>
  );
}

interface ChoicesProps<Id> {
  readonly legend: string;
  readonly hint: string;
  readonly items: readonly { readonly id: Id; readonly label: string; readonly description: ReactNode }[];
  readonly keep: readonly Id[];
  readonly onChange: (keep: readonly Id[]) => void;
}

function Choices<Id extends string | number>({ legend, hint, items, keep, onChange }: ChoicesProps<Id>) {
  if (items.length === 0) return null;
  return (
    <Fieldset legend={legend} hint={hint}>
      <div className={s.keys}>
        {items.map(({ id, label, description }) => (
          <Checkbox
            key={id}
            label={label}
            description={description}
            checked={!keep.includes(id)}
            onChange={(event) =>
              onChange(event.target.checked ? keep.filter((one) => one !== id) : [...keep, id])
            }
          />
        ))}
      </div>
    </Fieldset>
  );
}
