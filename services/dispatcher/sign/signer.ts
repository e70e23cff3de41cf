import type { HeaderPair } from '@causeway/proto';
import { type DeliveredEvent, deliveryHeaders } from '@causeway/proto/signatures';
import { createBatch, type KeyRing } from '@causeway/runtime';
import { Piscina } from 'piscina';
import type { Context } from '../context.ts';
import type { SubscriptionTarget } from '../delivery.ts';
import type { Signatures, SignItem, SignTask } from './worker.ts';

export interface Signer {
  sign(request: SignRequest): Promise<HeaderPair[]>;
  close(): Promise<void>;
}

export interface SignRequest extends DeliveredEvent {
  readonly company_id: number;
  readonly target: Pick<SubscriptionTarget, 'secret' | 'previous_secret' | 'previous_secret_until'>;
  readonly body: Uint8Array;
}

/** The receiver is not the cause. */
export class CannotSign extends Error {
  override readonly name = 'CannotSign';
}

/**
 * Attempts of one tick, and those that arrive while the thread is busy, go to it as one task, so that
 * a busy dispatcher pays for one round trip per batch.
 */
export const createSigner = ({ keyRing, now, metrics }: SignerOptions): Signer => {
  const pool = new Piscina<SignTask, readonly Signatures[]>({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
    workerData: keyRing,
    // The thread inherits neither the environment nor the loaders of this process.
    env: {},
    execArgv: [],
  });

  const signAll = async (batch: readonly PendingSignature[]): Promise<void> => {
    const nowMs = now().getTime();
    const timestamp = Math.floor(nowMs / 1000);
    const task = taskOf(batch, timestamp, nowMs);
    try {
      const answers = await pool.run(task, { transferList: [task.bodies.buffer as ArrayBuffer] });
      batch.forEach(({ request, resolve, reject }, at) => {
        const answer = answers[at]!;
        if ('error' in answer) reject(new CannotSign(answer.error));
        else resolve(deliveryHeaders(request, timestamp, answer));
      });
    } catch (error) {
      for (const { reject } of batch) reject(new CannotSign('the signing thread failed', { cause: error }));
    }
  };

  const batch = createBatch<PendingSignature>({
    name: 'signatures',
    metrics,
    when: queueMicrotask,
    maxItems: 128,
    bytes: { max: 2 ** 22, of: ({ request }) => request.body.length },
    maxFlushes: 1,
    flush: signAll,
  });

  return {
    sign: (request) =>
      new Promise((resolve, reject) => {
        batch.add({ request, resolve, reject });
      }),
    close: () => pool.destroy(),
  };
};

interface SignerOptions extends Pick<Context, 'now' | 'metrics'> {
  readonly keyRing: KeyRing;
}

interface PendingSignature {
  readonly request: SignRequest;
  readonly resolve: (headers: HeaderPair[]) => void;
  readonly reject: (error: Error) => void;
}

const taskOf = (batch: readonly PendingSignature[], timestamp: number, nowMs: number): SignTask => {
  let end = 0;
  const items = batch.map(({ request: { company_id, event_id, target, body } }): SignItem => {
    end += body.length;
    return { companyId: company_id, eventId: event_id, secrets: secretsOf(target, nowMs), end };
  });
  const bodies = new Uint8Array(end);
  for (const [at, { request }] of batch.entries())
    bodies.set(request.body, items[at]!.end - request.body.length);
  return { timestamp, bodies, items };
};

/** The current secret first. Copied, because posting a view to a thread copies its whole buffer. */
const secretsOf = (target: SignRequest['target'], nowMs: number): Uint8Array[] => {
  const { secret, previous_secret, previous_secret_until } = target;
  const overlaps = previous_secret !== null && (previous_secret_until?.getTime() ?? 0) > nowMs;
  return (overlaps ? [secret, previous_secret] : [secret]).map((sealed) => Uint8Array.from(sealed));
};
