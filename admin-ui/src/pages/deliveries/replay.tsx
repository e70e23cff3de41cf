import { type Answer, operationQuery } from '../../model/client.ts';
import { number } from '../../ui/format.ts';
import type { Tone } from '../../ui/values.tsx';
import s from './replay.module.css';

export function Progress({ replay }: { readonly replay: Replay }) {
  const { total, made, failed } = replay;
  const succeeded = deliversAgain(replay) ? replay.succeeded : made;
  const underWay = Math.max(made - succeeded - failed, 0);
  return (
    <div className={s.progress}>
      <div
        className={s.bar}
        role="progressbar"
        aria-label="Deliveries made"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={made}
      >
        <span className={s.good} data-mark style={{ flexGrow: succeeded }} />
        <span className={s.bad} data-mark style={{ flexGrow: failed }} />
        <span className={s.way} data-mark style={{ flexGrow: underWay }} />
        <span style={{ flexGrow: Math.max(total - made, 0) }} />
      </div>
      <p className={s.text}>
        {number(made)} of {number(total)}
      </p>
    </div>
  );
}

export type Replay = Answer<'getReplay'>;

export const replayQuery = (id: number) => ({
  ...operationQuery('getReplay', { params: { id } }),
  refetchInterval: ({ state }: { readonly state: { readonly data?: Replay | undefined } }) =>
    state.data?.state === 'running' || isUnsettled(state.data) ? 1000 : false,
});

/** All deliveries were created, and some have no result yet. */
const isUnsettled = (replay: Replay | undefined): boolean =>
  replay !== undefined &&
  replay.state === 'done' &&
  deliversAgain(replay) &&
  replay.succeeded + replay.failed < replay.made &&
  Date.now() - Date.parse(replay.finishedUtc ?? replay.createdUtc) < 60_000;

export const kindLabels: Readonly<Record<Replay['kind'], string>> = {
  resend: 'Resent delivery',
  failed: 'Failed deliveries',
  missed: 'Missed events',
  filter: 'Chosen deliveries',
  release: 'Held deliveries released',
  drop: 'Held deliveries discarded',
};

export const replayStates: Readonly<
  Record<Replay['state'], { readonly tone: Tone; readonly label: string }>
> = {
  running: { tone: 'info', label: 'Running' },
  done: { tone: 'good', label: 'Done' },
  cancelled: { tone: 'neutral', label: 'Cancelled' },
};

/** Whether it makes deliveries of its own, whose outcome it counts. The others act on held deliveries. */
export const deliversAgain = ({ kind }: Pick<Replay, 'kind'>): boolean =>
  kind !== 'release' && kind !== 'drop';

export const outcomeOf = ({ kind, made, succeeded, failed }: Replay): string => {
  const count = number(made);
  if (kind === 'release') return `${count} released`;
  if (kind === 'drop') return `${count} discarded`;
  const [delivered, lost] = [number(succeeded), number(failed)];
  return failed > 0 ? `${delivered} delivered, ${lost} failed` : `${delivered} delivered`;
};
