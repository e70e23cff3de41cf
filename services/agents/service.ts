import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  calledHeader,
  invalid,
  maxAgentBytes,
  payloadTooLarge,
  readJsonObject,
  renderProblem,
  toProblem,
} from '@causeway/proto';
import { createGate, type Gate, type Kit, readAtMost } from '@causeway/runtime';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type Agent, readAgent } from './agent.ts';
import type { AgentsConfig } from './config.ts';
import { type CalledInterface, openInterface } from './interface.ts';
import { agentsMetrics } from './metrics.ts';
import { createAgentServer } from './server.ts';

/** Parsing and building an answer take milliseconds and several times its size: few at once, companies in turn. */
const turnsAtOnce = 8;
/** The gateways have refused what is too much. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** The kit's stop ends everything that is started here. */
export const startAgents = async (
  kit: Pick<Kit, 'log' | 'metrics' | 'onStop'>,
  config: Pick<AgentsConfig, 'HOST' | 'PORT' | 'INTERFACE_URL' | 'PORTAL_URL' | 'PUBLIC_URL'>,
): Promise<{ port: number }> => {
  const { log, metrics } = kit;
  const requests = metrics.counter(agentsMetrics.agents_requests_total);
  const elapsed = metrics.timing(agentsMetrics.agents_request_seconds);
  let waiting = 0;
  metrics.gauge(agentsMetrics.agents_waiting_for_interface, () => waiting);
  const origins = [config.PORTAL_URL, config.PUBLIC_URL].flatMap((url) => (url ? [new URL(url).origin] : []));
  const gate = createGate({ atOnce: turnsAtOnce, maxPerKey: unlimited, maxWaiting: unlimited });

  const answerTo = async (request: IncomingMessage, gone: AbortSignal): Promise<Answer> => {
    const { headers } = request;
    if (headers.origin !== undefined && !origins.includes(headers.origin))
      return refused(403, 'the Origin is another site');
    const body = await readAtMost(maxAgentBytes, request);
    if (!body) throw payloadTooLarge(maxAgentBytes);
    const facts = readAgent(headers);
    const turn = createTurn(gate, facts.companyId);
    const outside = async <Result>(wait: () => Promise<Result>): Promise<Result> => {
      turn.end();
      waiting++;
      try {
        return await wait();
      } finally {
        waiting--;
        await turn.begin();
      }
    };
    const called: CalledInterface = { isCalled: false, isRevoked: false, limits: {} };
    await turn.begin();
    try {
      const send = openInterface(config.INTERFACE_URL, { ...facts, outside, called });
      const response = await answerAgent({ ...facts, gone, send }, protocolHeaders(headers), parse(body));
      if (called.isRevoked) return refused(401, 'missing or invalid API key');
      const type = response.headers.get('content-type');
      return {
        status: response.status,
        headers: {
          ...(type && { 'Content-Type': type }),
          ...called.limits,
          ...(called.isCalled && { [calledHeader]: 'true' }),
        },
        body: await response.text(),
      };
    } finally {
      turn.end();
    }
  };

  const server = createServer((request, response) => {
    const startedMs = performance.now();
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    void answerTo(request, gone.signal)
      .catch((error: unknown) => {
        const problem = toProblem(error);
        const { status } = renderProblem('general', problem, { requestId: '' });
        if (status === 500 && !gone.signal.aborted) log.error({ error }, 'request of an agent failed');
        return refused(status, problem.publicMessage, status === 400 ? parseError : undefined);
      })
      .then(({ status, headers, body }) => {
        requests.cell(String(status)).value++;
        elapsed.observe(performance.now() - startedMs);
        response.writeHead(status, headers).end(body);
      });
  });
  // Longer than gateways keep an idle connection, so that no request meets its end.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(config.PORT, config.HOST, resolve);
  });
  kit.onStop('HTTP', async () => {
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port };
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const parseError = -32_700;
const invalidRequest = -32_600;

const refused = (status: number, message: string, code = invalidRequest): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }),
});

const createTurn = (gate: Gate, company: string) => {
  let end = (): void => {};
  return {
    begin: () =>
      new Promise<void>((go, refuse) => {
        const held = () =>
          new Promise<void>((done) => {
            end = done;
            go();
          });
        gate.run(company, Number.POSITIVE_INFINITY, held).catch(refuse);
      }),
    end: () => end(),
  };
};

/**
 * Like that of any request: a number that is not stored as it was written is refused, and so are batches. The
 * protocol has none since revision 2025-06-18, and one with ten thousand requests would be answered by a gigabyte.
 * @throws Problem
 */
const parse = (body: Buffer): Readonly<Record<string, unknown>> => {
  const { value, problems } = readJsonObject(body);
  if (problems.length > 0) throw invalid(problems);
  return value;
};

const protocolHeaders = (headers: IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('mcp-') && value !== undefined ? [[name, String(value)]] : [],
    ),
  );

/** Nothing is announced later, so there is nothing to listen to. */
const modern = createMcpHandler(({ authInfo }) => createAgentServer(authInfo!.extra as unknown as Agent), {
  legacy: 'reject',
  maxSubscriptions: 0,
  keepAliveMs: 0,
});

/** Speaks the Model Context Protocol, by the official package, in all its revisions: one JSON body, without a session. */
const answerAgent = async (
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
