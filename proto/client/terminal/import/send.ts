import { pause } from '../../calls.ts';
import { Conflict, ConnectionLost, RateLimited, TimedOut, Unavailable } from '../../index.ts';

export interface ItemResult {
  readonly index: number;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Send = () => Promise<{ readonly results: readonly ItemResult[] }>;

/**
 * Sends a batch until it is answered whole. Its key makes that safe: a repetition answers what was done, and does the rest.
 * @throws CausewayError if waiting does not help, or nothing answers for ten minutes
 */
export const sendBatch = async (
  send: Send,
  signal: AbortSignal,
  onWait: (why: string) => void,
): Promise<readonly ItemResult[]> => {
  let answeredMs = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      const { results } = await send();
      const isWhole = results.every(({ status }) => status < 500);
      if (isWhole || attempt >= maxAttempts) return results;
      onWait('some rows were not begun');
      await pause(1000, signal);
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = waitAfter(error, attempt);
      const isAnswered = error instanceof RateLimited;
      if (isAnswered) answeredMs = performance.now();
      if (waitMs === undefined || performance.now() - answeredMs > giveUpMs) throw error;
      onWait(isAnswered ? 'the limit of this minute is used up' : (error as Error).message);
      await pause(waitMs, signal);
    }
  }
};

const maxAttempts = 30;
const giveUpMs = 10 * 60_000;

const waitAfter = (error: unknown, attempt: number): number | undefined => {
  if (error instanceof RateLimited) return error.retryAfter * 1000 + 250 * Math.random();
  if (error instanceof Conflict) return error.reason === 'idempotency_in_progress' ? 1000 : undefined;
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof Unavailable)
    return Math.min(15_000, 500 * 2 ** Math.min(attempt, 6)) * (0.5 + Math.random() / 2);
  return undefined;
};

export const reasonIn = ({ status, body }: ItemResult): string => {
  const details = body.details as readonly { readonly message: string }[] | undefined;
  return (
    details?.map(({ message }) => message).join('; ') ??
    String(body.error ?? body.message ?? `status ${status}`)
  );
};
