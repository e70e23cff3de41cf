import { parentPort } from 'node:worker_threads';
import { invalid, readJsonObject, toProblem } from '@causeway/proto';
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server';
import type { AgentRequest, AgentResponse, ToolAnswer, ToolRequest } from './messages.ts';
import { type AskTool, createAgentServer } from './server.ts';

/**
 * Speaks the Model Context Protocol, by the official package, in a thread of its own: parsing an agent's JSON and listing
 * fifty tools takes milliseconds, which no other request of the gateway may wait for. What a tool does is a request that the
 * gateway serves like any other.
 */
const port = parentPort!;

const waiting = new Map<number, (answer: ToolAnswer) => void>();
let calls = 0;

const asking =
  (id: number): AskTool =>
  (request) =>
    new Promise((resolve) => {
      const call = ++calls;
      waiting.set(call, resolve);
      port.postMessage({ ...request, kind: 'call', id, call } satisfies ToolRequest);
    });

interface Extra {
  readonly ask: AskTool;
}

const handler = createMcpHandler(
  ({ authInfo }) => createAgentServer(authInfo!.scopes, (authInfo!.extra as unknown as Extra).ask),
  // Nothing is announced later, so there is nothing to listen to.
  { maxSubscriptions: 0, keepAliveMs: 0 },
);

const serve = async ({ id, scopes, headers, body }: AgentRequest): Promise<void> => {
  const response = await answerTo(body, headers, {
    token: '',
    clientId: '',
    scopes: [...scopes],
    extra: { ask: asking(id) } satisfies Extra as unknown as Record<string, unknown>,
  }).catch((error: unknown) => rpcError(500, internalError, String(error)));
  port.postMessage({
    kind: 'response',
    id,
    status: response.status,
    contentType: response.headers.get('content-type'),
    body: await response.text(),
  } satisfies AgentResponse);
};

/**
 * A body is read like that of any request: a number that is not stored as it was written is refused, and so are batches. The
 * protocol has none since revision 2025-06-18, and one with ten thousand requests would be answered by a gigabyte.
 */
const answerTo = async (
  body: Uint8Array,
  headers: AgentRequest['headers'],
  authInfo: AuthInfo,
): Promise<Response> => {
  let parsedBody: unknown;
  try {
    const { value, problems } = readJsonObject(body);
    if (problems.length > 0) throw invalid(problems);
    parsedBody = value;
  } catch (error) {
    return rpcError(400, parseError, toProblem(error).publicMessage);
  }
  return handler.fetch(new Request(url, { method: 'POST', headers }), { authInfo, parsedBody });
};

const url = 'http://gateway/mcp';
const parseError = -32_700;
const internalError = -32_603;

const rpcError = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

port.on('message', (message: AgentRequest | ToolAnswer) => {
  if (message.kind === 'request') return void serve(message);
  waiting.get(message.call)?.(message);
  waiting.delete(message.call);
});
