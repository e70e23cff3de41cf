import { Worker } from 'node:worker_threads';
import { problem } from '@causeway/proto';
import type { Log } from '@causeway/runtime';
import type { AgentRequest, AgentResponse, ToolAnswer, ToolRequest } from './messages.ts';

/** The thread that speaks the protocol; it starts with the first request, and takes 90 MB. */
export interface Agents {
  /** @throws Problem if the thread fails, or does not answer in time. */
  ask(
    request: Pick<AgentRequest, 'scopes' | 'headers' | 'body'>,
    serveTool: ServeTool,
  ): Promise<AgentResponse>;
  close(): Promise<void>;
}

type ServeTool = (request: ToolRequest) => Promise<Omit<ToolAnswer, 'kind' | 'call'>>;

interface Asked {
  readonly serveTool: ServeTool;
  readonly resolve: (response: AgentResponse) => void;
  readonly reject: (error: Error) => void;
}

/** More than the longest `wait` and the deadline after it. */
const patienceMs = 60_000;

export const createAgents = (log: Log): Agents => {
  const asked = new Map<number, Asked>();
  let thread: Worker | undefined;
  let requests = 0;

  const start = (): Worker => {
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      // It has no use for the settings of this process.
      env: {},
      execArgv: [],
      // With what the gateway itself needs, it stays within the memory of its container.
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
    });
    started.on('message', (message: AgentResponse | ToolRequest) => {
      const one = asked.get(message.id);
      if (message.kind === 'response') one?.resolve(message);
      // Without a request that waits for it, nothing is done.
      else if (one)
        one
          .serveTool(message)
          .then((answer) =>
            started.postMessage({ ...answer, kind: 'answer', call: message.call } satisfies ToolAnswer),
          )
          .catch(one.reject);
    });
    started.on('error', (error) => {
      log.error({ error }, 'the thread for agents failed');
      end(started);
    });
    started.on('exit', () => end(started));
    // It keeps no stopping process alive.
    started.unref();
    return started;
  };

  const end = (ended: Worker): void => {
    if (thread !== ended) return;
    thread = undefined;
    for (const { reject } of asked.values()) reject(problem('service_unavailable'));
  };

  return {
    ask: ({ scopes, headers, body }, serveTool) => {
      thread ??= start();
      const asking = thread;
      const id = ++requests;
      const { promise, resolve, reject } = Promise.withResolvers<AgentResponse>();
      asked.set(id, { serveTool, resolve, reject });
      // A thread that hangs would keep all later requests waiting.
      const late = setTimeout(() => {
        log.error({}, 'the thread for agents did not answer');
        reject(problem('timeout'));
        end(asking);
        void asking.terminate();
      }, patienceMs);
      asking.postMessage({ kind: 'request', id, scopes, headers, body } satisfies AgentRequest);
      return promise.finally(() => {
        clearTimeout(late);
        asked.delete(id);
      });
    },
    close: async () => void (await thread?.terminate()),
  };
};
