import { failuresUntilProbing } from '@causeway/proto/delivery-states';
import { useQueries } from '@tanstack/react-query';
import { causeOf } from '../../model/causes.ts';
import { type Answer, call, operationQuery } from '../../model/client.ts';
import { isAutoDisabled, type Subscription } from '../../model/subscriptions.ts';
import { ApiError, errorText } from '../../ui/errors.ts';

export type Replay = Answer<'listReplays'>['replays'][number];

export const isFailing = ({ enabled, consecutiveFailures }: Subscription): boolean =>
  enabled && consecutiveFailures >= failuresUntilProbing;

/** What has not arrived. */
export interface Backlog {
  readonly waiting: number;
  readonly held: number;
  readonly missed: number;
  readonly givenUp: number;
}

/** @param missedWhileOff undefined while they are counted. */
export const backlogOf = ({ health, missed }: Subscription, missedWhileOff: number | undefined): Backlog => ({
  waiting: health.waiting,
  held: health.held,
  missed: missedWhileOff ?? missed?.count ?? 0,
  givenUp: health.givenUp,
});

export const sizeOf = ({ waiting, held, missed, givenUp }: Backlog): number =>
  waiting + held + missed + givenUp;

/** Whether there is something to deliver that does not arrive by itself. */
export const isBehind = (subscription: Subscription): boolean => {
  const { enabled, expiresUtc, health, missed, verification } = subscription;
  if (!enabled) return isAutoDisabled(subscription) && expiresUtc === null && verification === null;
  return (
    health.held + health.givenUp > 0 || missed !== null || (isFailing(subscription) && health.waiting > 0)
  );
};

/** By subscription: how many events those that are off have missed, which are noted when they are enabled. */
export const useMissedWhileOff = (all: readonly Subscription[]) =>
  useQueries({
    queries: all
      .filter(({ enabled }) => !enabled)
      .map(({ id: subscriptionId, disabledUtc, missed, createdUtc }) => ({
        ...operationQuery('previewReplay', {
          body: { kind: 'missed', subscriptionId, since: missed?.sinceUtc ?? disabledUtc ?? createdUtc },
        }),
        select: ({ count }: Answer<'previewReplay'>) => ({ subscriptionId, count }),
        refetchInterval: 30_000,
        retry: false,
      })),
    combine: (results) => ({
      isPending: results.some(({ isPending }) => isPending),
      counts: new Map(
        results.flatMap(({ data }) => (data ? [[data.subscriptionId, data.count] as const] : [])),
      ),
    }),
  });

type Act = 'enable' | 'release' | 'missed' | 'failed';
export type Step = Act | 'test';

export const stepTexts: Readonly<Record<Step, string>> = {
  test: 'Testing…',
  enable: 'Enabling…',
  release: 'Releasing…',
  missed: 'Delivering what was missed…',
  failed: 'Delivering what failed…',
};

/** What is left to begin. Replays that run are of what they are for. */
const actsFor = (subscription: Subscription, replays: readonly Replay[]): readonly Act[] => {
  if (!subscription.enabled) return ['enable'];
  const { held, waiting, givenUp } = subscription.health;
  const runs = (...kinds: readonly Replay['kind'][]) =>
    replays.some(({ kind, state }) => state === 'running' && kinds.includes(kind));
  return [
    ...(isFailing(subscription) && waiting > 0 ? (['enable'] as const) : []),
    ...(held > 0 && !runs('release', 'drop') ? (['release'] as const) : []),
    ...(subscription.missed && !runs('missed') ? (['missed'] as const) : []),
    ...(givenUp > 0 && !runs('failed') ? (['failed'] as const) : []),
  ];
};

const carryOut = ({ id, missed, health, createdUtc }: Subscription, act: Act): Promise<unknown> => {
  const since = (act === 'missed' ? missed?.sinceUtc : health.undelivered.oldestUtc) ?? createdUtc;
  if (act === 'enable') return call('updatePortalSubscription', { params: { id }, body: { enabled: true } });
  if (act === 'release') return call('releaseHeld', { params: { id } });
  return call('createReplay', { body: { kind: act, subscriptionId: id, since } });
};

/**
 * Enables it, and begins to deliver what is held, was missed or failed. Each step follows from what the server says is left,
 * so nothing is done twice if an answer is lost, another window does the same, or it is called again.
 */
export const catchUp = async (
  id: number,
  { tests, onStep }: { readonly tests: boolean; readonly onStep?: (step: Step) => void },
): Promise<void> => {
  const tries = new Map<Act, number>();
  const read = () =>
    Promise.all([
      call('getPortalSubscription', { params: { id } }),
      call('listReplays', { query: { subscriptionId: id, limit: 100 } }),
    ]);
  if (tests) {
    onStep?.('test');
    const cause = causeOf(await call('testPortalSubscription', { params: { id }, body: {} }));
    if (cause) throw new Error(cause.title);
  }
  for (;;) {
    const [subscription, { replays }] = await read();
    const most = (act: Act) => (act === 'enable' && subscription.enabled ? 1 : triesOfEach);
    const act = actsFor(subscription, replays).find((one) => (tries.get(one) ?? 0) < most(one));
    if (!act) return;
    tries.set(act, (tries.get(act) ?? 0) + 1);
    onStep?.(act);
    try {
      await carryOut(subscription, act);
    } catch (error) {
      const isLast = tries.get(act) === triesOfEach && !/^(there is )?nothing /i.test(errorText(error));
      if (!mayBeDone(error, act) || isLast) throw error;
    }
  }
};

const triesOfEach = 2;

/** No answer came, or another window was first: what is left tells. A receiver that is not verified stays so. */
const mayBeDone = (error: unknown, act: Act): boolean =>
  error instanceof ApiError &&
  ([0, 503, 504].includes(error.status) || (error.status === 409 && act !== 'enable'));
