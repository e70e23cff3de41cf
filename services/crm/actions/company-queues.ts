/** Calls that may have to wait for a lock, by company. */
export interface CompanyQueues<Call> {
  /** Refused if too many of the company wait. */
  add(calls: readonly Call[]): void;
  /** Whether the call would wait for the locks of others of its company. */
  concerns(call: Call): boolean;
  /** The company's next calls come here, too: it has waited for a lock that no call names. */
  keepApart(companyId: number): void;
}

interface QueuedCall {
  readonly submission: { readonly companyId: number };
  readonly keys: readonly string[];
}

/**
 * A queue for each company, which runs what waits in it and begins again when that has ended. Few run at once, and they take turns:
 * a company waits for its own locks, and keeps no other waiting.
 * @param run returns the calls that did not get their locks.
 */
export const createCompanyQueues = <Call extends QueuedCall>({
  run,
  refuse,
}: QueuesOptions<Call>): CompanyQueues<Call> => {
  const queues = new Map<number, { waiting: Call[]; running: readonly Call[] }>();
  const ready: number[] = [];
  const apart = new Map<number, number>();
  let running = 0;

  const start = (): void => {
    while (running < queuesAtOnce && ready.length > 0) {
      running++;
      void turn(ready.shift()!).finally(() => {
        running--;
        start();
      });
    }
  };
  const turn = async (companyId: number): Promise<void> => {
    const queue = queues.get(companyId)!;
    queue.running = queue.waiting.splice(0);
    const blocked = await run(queue.running);
    queue.running = [];
    queue.waiting.unshift(...blocked);
    if (queue.waiting.length > 0) ready.push(companyId);
    else queues.delete(companyId);
  };

  return {
    add: (calls) => {
      for (const call of calls) {
        const { companyId } = call.submission;
        const queue = queues.get(companyId);
        if (!queue) {
          queues.set(companyId, { waiting: [call], running: [] });
          ready.push(companyId);
        } else if (queue.waiting.length < mostWaiting) queue.waiting.push(call);
        else refuse(call);
      }
      start();
    },
    concerns: ({ submission: { companyId }, keys }) => {
      const untilMs = apart.get(companyId);
      if (untilMs !== undefined && untilMs > performance.now()) return true;
      if (untilMs !== undefined) apart.delete(companyId);
      const queue = queues.get(companyId);
      if (!queue) return false;
      const isAmong = (some: readonly Call[]): boolean =>
        some.some((one) => one.keys.some((key) => keys.includes(key)));
      return isAmong(queue.running) || isAmong(queue.waiting);
    },
    keepApart: (companyId) => void apart.set(companyId, performance.now() + apartMs),
  };
};

const queuesAtOnce = 8;
const mostWaiting = 256;
const apartMs = 5_000;

interface QueuesOptions<Call> {
  readonly run: (calls: readonly Call[]) => Promise<readonly Call[]>;
  readonly refuse: (call: Call) => void;
}
