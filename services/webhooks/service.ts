import { randomBytes } from 'node:crypto';
import { type Callers, followCallers } from '@causeway/identity';
import { maskTargets, retentionDays } from '@causeway/proto';
import {
  behindOwnGate,
  createOnce,
  each,
  type Handler,
  type KeyRing,
  type LaneHandler,
  noMetrics,
  type ServiceOptions,
  sealedWithRing,
  serveOperations,
  startRetention,
} from '@causeway/runtime';
import { defaultQuotas, type Quotas, type TargetRules, type WebhooksContext } from './context.ts';
import { openCursors } from './cursors.ts';
import { handlers } from './handlers.ts';
import { startMemberEndings } from './members/endings.ts';
import { startEmptyingWebhooks, startFollowing } from './subscriptions/closed.ts';
import { startEnds } from './subscriptions/ends.ts';
import { startChallenges } from './subscriptions/verification.ts';
import type { Tables } from './tables.ts';

interface Webhooks {
  ready(): boolean;
  /** Takes no more requests. Resolves when those taken are answered and every job has stopped. */
  drain(): Promise<void>;
}

export interface WebhooksOptions extends ServiceOptions<Tables> {
  readonly keyRing: KeyRing;
  /** Default: https and public hosts only. */
  readonly targets?: TargetRules;
  /** Default: `defaultQuotas`. */
  readonly quotas?: Quotas;
  readonly retentionDays?: number;
  readonly random?: (bytes: number) => Uint8Array;
}

export const createWebhooks = async (options: WebhooksOptions): Promise<Webhooks> => {
  const {
    bus,
    db,
    log,
    metrics = noMetrics,
    keyRing,
    now = () => new Date(),
    random = randomBytes,
  } = options;
  const targets = options.targets ?? { allowHttp: false, allowPrivate: false };
  const cursors = openCursors({ db, keyRing, random });
  const ends = startEnds({ bus, db, log, now });
  const memberEndings = startMemberEndings({ bus, db, log, now });
  const following = startFollowing({ bus, db, log, now });
  const emptying = startEmptyingWebhooks({ bus, db, log, now });
  const callers = followCallers({ bus, log, metrics, now, onRevoked: ends.wake });
  const quotas = options.quotas ?? defaultQuotas;
  const challenges = startChallenges({ bus, db, log, now, random });
  const context: WebhooksContext = {
    bus,
    db,
    once: createOnce({ db, now, seal: sealedWithRing(keyRing) }),
    log,
    keyRing,
    targets,
    quotas,
    cursors,
    challenges,
    now,
    random,
  };
  const lanes = await serveOperations({
    service: 'webhooks',
    handlers,
    context,
    once: context.once,
    guard: guarded(callers),
    bus,
    well: () => db.isUp() && callers.ready(),
    log,
    metrics,
  });
  const retention = startRetention({
    db,
    log,
    tables: ['events'],
    lock: 'retention of events',
    days: options.retentionDays ?? retentionDays,
    now,
    metrics,
  });
  return {
    ready: callers.ready,
    drain: async () => {
      await lanes.drain();
      await challenges.drain();
      callers.close();
      await ends.stop();
      await memberEndings.stop();
      await following.stop();
      await emptying.stop();
      await retention.stop();
    },
  };
};

const guarded =
  (callers: Callers) =>
  ({ operation, answer }: Handler): LaneHandler => {
    if (operation.audience !== 'member') return callers.guard({ operation, answer });
    const guardedAnswer = callers.guard({ operation, answer: forViewers(answer) });
    return operation.role === null ? behindOwnGate(guardedAnswer) : guardedAnswer;
  };

/**
 * Masks tokens in receivers' URLs and headers (SECURITY.md). Wraps all portal operations: none omits it. Strangers, who
 * have a link to a delivery, see what viewers see.
 */
const forViewers = (handler: LaneHandler): LaneHandler =>
  each(async (call) => {
    const [pending] = handler([call]);
    const answer = await pending!;
    const role = call.actor?.user?.role ?? 'viewer';
    if (role !== 'viewer' || answer.body === null) return answer;
    const shown = maskTargets(
      JSON.parse(typeof answer.body === 'string' ? answer.body : Buffer.from(answer.body).toString()),
    );
    return { ...answer, body: JSON.stringify(shown) };
  });
