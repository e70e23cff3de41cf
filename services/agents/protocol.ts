import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Agent } from './agent.ts';
import { createAgentServer } from './server.ts';

/** Nothing is announced later, so there is nothing to listen to. */
const modern = createMcpHandler(({ authInfo }) => createAgentServer(authInfo!.extra as unknown as Agent), {
  legacy: 'reject',
  maxSubscriptions: 0,
  keepAliveMs: 0,
});

/** Speaks the Model Context Protocol, by the official package, in all its revisions: one JSON body, without a session. */
export const answerAgent = async (
  agent: Agent,
  headers: Readonly<Record<string, string>>,
  parsedBody: unknown,
): Promise<Response> => {
  // `initialize` negotiates by its body: newer clients keep their header when they fall back to it.
  const sent = isInitialize(parsedBody) ? {} : headers;
  const request = new Request(anyUrl, { method: 'POST', headers: { ...sent, ...json }, signal: agent.gone });
  if (!(await isLegacyRequest(request, parsedBody))) {
    const extra = agent as unknown as Record<string, unknown>;
    const authInfo = { token: '', clientId: '', scopes: [...agent.scopes], extra };
    return modern.fetch(request, { authInfo, parsedBody });
  }
  const server = createAgentServer(agent);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
};

const anyUrl = 'http://agents/mcp';
/** Whatever a client accepts or says about its body, it gets and has sent JSON. */
const json = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const isInitialize = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && 'method' in body && body.method === 'initialize';
