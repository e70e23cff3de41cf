import { Link } from '@tanstack/react-router';
import { call, useMutation } from '../../model/client.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Quiet } from '../../ui/layout.tsx';
import { toastError } from '../../ui/toast.ts';
import { Cut, TimeAgo } from '../../ui/values.tsx';
import s from './catch-up.module.css';
import type { Replay } from './catch-up.ts';

/** What was begun here, how far it is, and what came of it. */
export function ReplayRow({ replay, mayCancel }: { readonly replay: Replay; readonly mayCancel: boolean }) {
  const { id, kind, state, total, made: madeCount, createdUtc, createdBy } = replay;
  const deliversAgain = kind !== 'release' && kind !== 'drop';
  const cancel = useMutation({
    mutationFn: () => call('cancelReplay', { params: { id } }),
    onError: toastError,
  });
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
        <Button size="s" pending={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
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
