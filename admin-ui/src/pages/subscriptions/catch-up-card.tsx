import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { replaysQuery } from '../../model/queries.ts';
import { useRefusal } from '../../model/session.ts';
import type { Subscription } from '../../model/subscriptions.ts';
import { ActButton, Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { errorText } from '../../ui/errors.ts';
import { number, plural } from '../../ui/format.ts';
import { Card, Quiet, Row, Stack } from '../../ui/layout.tsx';
import { Notice } from '../../ui/states.tsx';
import { Cut, Moment, TimeAgo } from '../../ui/values.tsx';
import s from './catch-up.module.css';
import {
  type Backlog,
  backlogOf,
  catchUp,
  isFailing,
  type Replay,
  sizeOf,
  useMissedWhileOff,
} from './catch-up.ts';
import { DeliverAgain } from './deliver-again.tsx';

/** The one place where what has not arrived is delivered. */
export function CatchUp({ subscription }: { readonly subscription: Subscription }) {
  const { id, enabled } = subscription;
  const refusal = useRefusal('developer');
  const search = useSearch({ from: '/in/subscriptions/$id' });
  const navigate = useNavigate({ from: '/subscriptions/$id' });
  const backlog = backlogOf(subscription, useMissedWhileOff([subscription]).counts.get(id));
  const replays = useQuery({
    ...replaysQuery(id),
    refetchInterval: ({ state }) =>
      state.data?.replays.some((one) => one.state === 'running') ? 1000 : 15_000,
  }).data?.replays;
  const running = replays?.some(({ state }) => state === 'running') ?? false;
  const summary = useRef<HTMLParagraphElement>(null);
  // What was pressed may be gone when it is done.
  const stay = { onSettled: () => summary.current?.focus() };
  const deliver = useMutation({
    mutationFn: async (all: boolean) => {
      if (all) await catchUp(id, { tests: false });
      else await call('updatePortalSubscription', { params: { id }, body: { enabled: true } });
    },
    ...stay,
  });
  const dismiss = useMutation({ mutationFn: () => call('dismissMissedEvents', { params: { id } }), ...stay });
  const leave = (): void => {
    void navigate({ search: {}, replace: true });
    stay.onSettled();
  };
  const again = search.dialog === 'again' && refusal === undefined;
  const size = sizeOf(backlog);
  // What only waits, at a receiver that works, needs nobody.
  const isStuck = !enabled || isFailing(subscription) || size > backlog.waiting;
  const error = deliver.error ?? dismiss.error;
  return (
    <Card
      title="Catch up"
      actions={
        refusal === undefined && (
          <Button
            size="s"
            aria-expanded={again}
            disabledReason={enabled ? undefined : 'Enable the subscription first'}
            onClick={() => void navigate({ search: again ? {} : { dialog: 'again' }, replace: true })}
          >
            Deliver others again…
          </Button>
        )
      }
    >
      <Stack gap="s">
        <p ref={summary} tabIndex={-1} role="status" className={s.summary}>
          {size === 0
            ? running
              ? 'Deliveries are under way.'
              : 'Everything has arrived.'
            : isStuck && !running && !deliver.isPending
              ? plural(size, '# delivery has not arrived.', '# deliveries have not arrived.')
              : plural(size, '# delivery is on its way.', '# deliveries are on their way.')}
        </p>
        {isStuck && (
          <BacklogList subscription={subscription} backlog={backlog}>
            {(part) =>
              refusal !== undefined || running ? null : part === 'held' ? (
                <DialogButton
                  name="discard"
                  size="s"
                  dialog={(shown) => (
                    <ConfirmDialog
                      {...shown}
                      title={plural(backlog.held, 'Discard # held delivery?', 'Discard # held deliveries?')}
                      confirm="Discard deliveries"
                      danger
                      act={() => call('discardHeld', { params: { id } })}
                      onDone={leave}
                    >
                      <p>
                        They are not sent. Their events stay in the event log, and can be delivered again.
                      </p>
                    </ConfirmDialog>
                  )}
                >
                  Discard…
                </DialogButton>
              ) : (
                part === 'missed' &&
                subscription.missed && (
                  <Button size="s" pending={dismiss.isPending} onClick={() => dismiss.mutate()}>
                    Dismiss
                  </Button>
                )
              )
            }
          </BacklogList>
        )}
        {isStuck && refusal === undefined && (
          <Row>
            <Button
              size="s"
              variant="primary"
              pending={deliver.isPending}
              onClick={() => deliver.mutate(true)}
            >
              {enabled
                ? `Deliver ${number(size)}`
                : size > 0
                  ? `Enable and deliver ${number(size)}`
                  : 'Enable subscription'}
            </Button>
            {!enabled && size > 0 && (
              <Button size="s" pending={deliver.isPending} onClick={() => deliver.mutate(false)}>
                Enable only
              </Button>
            )}
            <Button size="s" onClick={() => void navigate({ search: { dialog: 'test' } })}>
              Test the receiver…
            </Button>
          </Row>
        )}
        {error && <Notice tone="bad">{errorText(error)}</Notice>}
        {again && <DeliverAgain subscription={subscription} search={search} onClose={leave} />}
        {replays && replays.length > 0 && (
          <ul className={s.list} aria-label="Replays">
            {replays.map((one) => (
              <ReplayRow key={one.id} replay={one} mayCancel={refusal === undefined} />
            ))}
          </ul>
        )}
      </Stack>
    </Card>
  );
}

const parts = ['waiting', 'held', 'missed', 'givenUp'] as const;
const states = { waiting: 'waiting', held: 'held', givenUp: 'failed' } as const;

interface BacklogListProps {
  readonly subscription: Subscription;
  readonly backlog: Backlog;
  readonly children: (part: keyof Backlog) => ReactNode;
}

function BacklogList({ subscription, backlog, children }: BacklogListProps) {
  const { id, enabled, missed, disabledUtc } = subscription;
  const since = missed?.sinceUtc ?? disabledUtc;
  const texts = {
    waiting: 'wait for the receiver, one attempt at a time',
    held: 'are held since it was disabled',
    missed: enabled ? 'were missed while it was off, or over the quota' : 'were missed since it was disabled',
    givenUp: 'failed after their last attempt',
  };
  const shown = parts.filter((part) => backlog[part] > 0);
  if (shown.length === 0) return null;
  return (
    <ul className={s.list}>
      {shown.map((part) => (
        <li key={part}>
          <span>
            {part === 'missed' ? (
              <strong>{number(backlog.missed)}</strong>
            ) : (
              <Link to="/deliveries" search={{ subscription: id, state: states[part] }}>
                {number(backlog[part])}
              </Link>
            )}{' '}
            {texts[part]}
            {part === 'missed' && since !== null && (
              <>
                {' '}
                (<Moment time={since} />)
              </>
            )}
          </span>
          {children(part)}
        </li>
      ))}
    </ul>
  );
}

/** What was begun here, how far it is, and what came of it. */
export function ReplayRow({ replay, mayCancel }: { readonly replay: Replay; readonly mayCancel: boolean }) {
  const { id, kind, state, total, made: madeCount, createdUtc, createdBy } = replay;
  const deliversAgain = kind !== 'release' && kind !== 'drop';
  return (
    <li>
      <span className={s.name}>
        {deliversAgain ? (
          <Link to="/deliveries" search={{ replay: id }}>
            {kindLabels[kind]}
          </Link>
        ) : (
          kindLabels[kind]
        )}
      </span>
      {state === 'running' && (
        <progress aria-label="Deliveries made" max={total} value={madeCount} className={s.bar} />
      )}
      <span>{state === 'cancelled' ? 'Cancelled' : outcomeOf(replay)}</span>
      <Quiet small>
        <Cut text={createdBy ?? 'An API key'} /> <TimeAgo time={createdUtc} />
      </Quiet>
      {state === 'running' && mayCancel && (
        <ActButton size="s" act={() => call('cancelReplay', { params: { id } })}>
          Cancel
        </ActButton>
      )}
    </li>
  );
}

const kindLabels: Readonly<Record<Replay['kind'], string>> = {
  resend: 'One delivery, resent',
  failed: 'Failed deliveries',
  missed: 'Missed events',
  filter: 'Chosen deliveries',
  release: 'Held deliveries',
  drop: 'Held deliveries, discarded',
};

const outcomeOf = ({ kind, state, total, made: madeCount, succeeded, failed }: Replay): string => {
  if (kind === 'release' || kind === 'drop')
    return state === 'running'
      ? `${number(madeCount)} of ${number(total)}`
      : `${number(madeCount)} ${kind === 'drop' ? 'discarded' : 'released'}`;
  const delivered =
    state === 'running'
      ? `${number(succeeded)} of ${number(total)} delivered`
      : `${number(succeeded)} delivered`;
  return failed > 0 ? `${delivered}, ${number(failed)} failed` : delivered;
};
