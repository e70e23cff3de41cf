import type { Signed } from '@causeway/deliveries';
import type { HeaderPair } from '@causeway/proto';
import type { DeliveredEvent } from '@causeway/proto/signatures';
import { createBatch, type KeyRing } from '@causeway/runtime';
import { Piscina } from 'piscina';
import type { Context } from '../context.ts';
import type { SubscriptionTarget } from '../delivery.ts';
import { linesEach, numbersEach, type SignTask } from './worker.ts';

export interface Signer {
  sign(request: SignRequest): Promise<SignedRequest>;
  close(): Promise<void>;
}

export interface SignedRequest extends Signed {
  /** In plain text. */
  readonly ownHeaders: readonly HeaderPair[];
}

export interface SignRequest extends Pick<DeliveredEvent, 'event_id'> {
  readonly company_id: number;
  readonly target: Pick<SubscriptionTarget, 'secret' | 'previous_secret' | 'previous_secret_until'> &
    Partial<Pick<SubscriptionTarget, 'headers'>>;
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
  const pool = new Piscina<SignTask, string>({
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
      const transferList = [task.numbers.buffer, task.bytes.buffer];
      const lines = (await pool.run(task, { transferList })).split('\n');
      batch.forEach(({ resolve, reject }, at) => {
        const [signature, standard, ownHeaders] = lines.slice(linesEach * at, linesEach * (at + 1)) as Lines;
        if (signature === '') reject(new CannotSign(standard));
        else
          resolve({
            timestamp,
            signatures: [signature, standard],
            ownHeaders: ownHeaders === '' ? [] : Object.entries<string>(JSON.parse(ownHeaders)),
          });
      });
    } catch (error) {
      for (const { reject } of batch) reject(new CannotSign('the signing thread failed', { cause: error }));
    }
  };

  const batch = createBatch<PendingSignature>({
    name: 'signatures',
    metrics,
    when: setImmediate,
    maxItems: 128,
    bytes: { max: () => 2 ** 22, of: ({ request }) => request.body.length },
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
  readonly resolve: (signed: SignedRequest) => void;
  readonly reject: (error: Error) => void;
}

const taskOf = (batch: readonly PendingSignature[], timestamp: number, nowMs: number): SignTask => {
  const numbers = new Float64Array(batch.length * numbersEach);
  const parts = batch.flatMap(({ request: { company_id, event_id, target, body } }, at) => {
    const { secret, previous_secret, previous_secret_until, headers } = target;
    const overlaps = previous_secret !== null && (previous_secret_until?.getTime() ?? 0) > nowMs;
    const own = [secret, overlaps ? previous_secret : noBytes, headers ?? noBytes, body];
    numbers.set([company_id, event_id, ...own.map(({ length }) => length)], at * numbersEach);
    return own;
  });
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return { timestamp, numbers, bytes };
};

const noBytes = new Uint8Array();
type Lines = [signature: string, standard: string, own: string];
