import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { problem } from '@causeway/proto';
import { readAtMost } from '@causeway/runtime';

export const agentsPath = '/mcp';

export interface Agents {
  /** @throws Problem `service_unavailable` if nothing was done, else `timeout` */
  ask(headers: Readonly<Record<string, string>>, body: Buffer, gone: AbortSignal): Promise<AgentsAnswer>;
  close(): void;
}

interface AgentsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** More than the longest `wait` and the deadline after it. */
const patienceMs = 60_000;
/** Far above what `agents` makes of an answer of `maxAgentBytes`. */
const maxAnswerBytes = 8 * 2 ** 20;

export const createAgents = (url: string | undefined): Agents => {
  const agent = new Agent({ keepAlive: true, timeout: 30_000 });
  return {
    ask: (headers, body, gone) => {
      const { promise, resolve, reject } = Promise.withResolvers<AgentsAnswer>();
      if (url === undefined) throw problem('service_unavailable');
      let isConnected = false;
      const fail = (error: unknown): void =>
        reject(problem(isConnected ? 'timeout' : 'service_unavailable', error));
      const outgoing = httpRequest(new URL(agentsPath, url), {
        method: 'POST',
        agent,
        signal: AbortSignal.any([gone, AbortSignal.timeout(patienceMs)]),
        headers: { ...headers, 'content-length': body.length },
      });
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) isConnected = true;
        else
          socket.once('connect', () => {
            isConnected = true;
          });
      });
      outgoing.once('error', fail);
      outgoing.once('response', async (incoming) => {
        try {
          const answered = await readAtMost(maxAnswerBytes, incoming);
          if (!answered) throw new Error(`agents answered more than ${maxAnswerBytes} bytes`);
          resolve({ status: incoming.statusCode!, headers: incoming.headers, body: answered });
        } catch (error) {
          fail(error);
        }
      });
      outgoing.end(body);
      return promise;
    },
    close: () => agent.destroy(),
  };
};
