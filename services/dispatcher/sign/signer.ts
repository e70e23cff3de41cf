import type { HeaderPair, KeyRing } from '@causeway/proto';
import type { Metrics } from '@causeway/runtime';
import { Piscina } from 'piscina';
import type { Target } from '../job.ts';
import { type Delivered, deliveryHeaders } from './headers.ts';
import type { Signatures, SignItem, SignTask } from './worker.ts';

/** Stamps and signs attempts right before they are sent. */
export interface Signer {
  /** @throws CannotSign where the subscription's secret does not open. */
  sign(request: SignRequest): Promise<HeaderPair[]>;
  close(): Promise<void>;
}

export interface SignRequest extends Delivered {
  readonly company_id: number;
  readonly target: Pick<Target, 'secret' | 'previous_secret' | 'previous_secret_until'>;
  readonly body: Uint8Array;
}

/** No attempt can be made, and the receiver is not to blame. */
export class CannotSign extends Error {
  override readonly name = 'CannotSign';
}

/**
 * What is asked for in one tick, or while every thread is busy, goes to a thread as one task: a lone attempt
 * waits for nobody, and a busy dispatcher pays for one hop to another thread and back per batch.
 */
export const createSigner = ({ keyRing, threads = 1, now, metrics }: SignerOptions): Signer => {
  const pool = new Piscina<SignTask, readonly Signatures[]>({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    workerData: keyRing,
    // What this process was started with is not for them: neither its environment nor its loaders.
    env: {},
    execArgv: [],
  });
  const batches = metrics?.counter('dispatcher_sign_batches_total', 'Batches that were signed').cell();
  const signed = metrics?.counter('dispatcher_signed_total', 'Attempts that were signed').cell();
  let waiting: Waiting[] = [];
  let running = 0;
  let woken = false;

  const startBatches = (): void => {
    woken = false;
    while (waiting.length > 0 && running < threads) {
      const batch = takeBatch(waiting);
      waiting = waiting.slice(batch.length);
      running++;
      void run(batch).finally(() => {
        running--;
        startBatches();
      });
    }
  };

  const run = async (batch: readonly Waiting[]): Promise<void> => {
    if (batches) batches.value++;
    if (signed) signed.value += batch.length;
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

  return {
    sign: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, resolve, reject });
        if (woken || running === threads) return;
        woken = true;
        queueMicrotask(startBatches);
      }),
    close: () => pool.destroy(),
  };
};

const maxBatch = 128;
const maxBatchBytes = 2 ** 22;

interface SignerOptions {
  readonly keyRing: KeyRing;
  readonly threads?: number | undefined;
  readonly now: () => Date;
  readonly metrics?: Metrics | undefined;
}

interface Waiting {
  readonly request: SignRequest;
  readonly resolve: (headers: HeaderPair[]) => void;
  readonly reject: (error: Error) => void;
}

/** The first ones of those that wait; at least one, however large. */
const takeBatch = (waiting: readonly Waiting[]): readonly Waiting[] => {
  let bytes = 0;
  const end = waiting.findIndex(({ request }, at) => {
    bytes += request.body.length;
    return at === maxBatch || (at > 0 && bytes > maxBatchBytes);
  });
  return end === -1 ? waiting.slice() : waiting.slice(0, end);
};

const taskOf = (batch: readonly Waiting[], timestamp: number, nowMs: number): SignTask => {
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

/** The new one first. Copies of their own: a message takes the whole memory along that a view looks at. */
const secretsOf = (target: SignRequest['target'], nowMs: number): Uint8Array[] => {
  const { secret, previous_secret, previous_secret_until } = target;
  const overlaps = previous_secret !== null && (previous_secret_until?.getTime() ?? 0) > nowMs;
  return (overlaps ? [secret, previous_secret] : [secret]).map((sealed) => Uint8Array.from(sealed));
};
