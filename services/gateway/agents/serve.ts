import { maxAgentBytes, methodNotAllowed, Problem, problem } from '@causeway/proto';
import { toolNames } from '@causeway/proto/method-names';
import type { AnswerRules, Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { noBody, type Reading } from '../http/body.ts';
import type { HttpRequest } from '../http/uws.ts';
import { authenticate, keyAnswers } from '../keys/serve.ts';
import type { Header } from '../limits/limiter.ts';
import { readVisit } from '../portal/visit.ts';
import { serveToolCall } from './tool-call.ts';

export const agentsPath = '/mcp';

export const agentAnswers: AnswerRules = { ...keyAnswers, unnamed: 'mcp', shapeOf: () => 'general' };

/**
 * Contract, "Agents". The protocol runs in a thread (`thread.ts`), which asks back for what a tool does. Call it before the request's
 * handler returns.
 */
export const serveAgent = (gateway: Gateway, exchange: Exchange, request: HttpRequest): Promise<void> => {
  const { headers, authorization } = readAgentHead(request);
  const { head: page, client } = readVisit(request, exchange.address, gateway.trustedProxies);
  const apiKey = keyOf(exchange.head.apiKey, authorization);
  const authenticated = authenticate(gateway, exchange, apiKey);
  const reading = exchange.read(gateway.bodies, maxAgentBytes);
  return authenticated.then((key) => {
    const { companyId, scopes } = key;
    exchange.label(labelOf(headers['mcp-name']));
    if (exchange.head.method !== 'POST') throw methodNotAllowed('POST');
    // A page of another site has no key, but the protocol wants it refused.
    if (page.origin !== '' && URL.parse(page.origin)?.host !== client.host) throw otherSite();
    gateway.uses.used(key, Date.now());
    return answer(gateway, exchange, { apiKey, companyId, scopes, headers }, reading);
  });
};

const otherSite = (): Problem =>
  new Problem({ code: 'forbidden', publicMessage: 'the Origin is another site' });

interface Agent {
  readonly apiKey: string;
  readonly companyId: number;
  readonly scopes: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

const answer = async (
  gateway: Gateway,
  exchange: Exchange,
  { apiKey, companyId, scopes, headers }: Agent,
  incoming: Reading | undefined,
): Promise<void> => {
  const body = incoming ? await incoming.body : noBody;
  if (body instanceof Problem) throw body;
  if (exchange.over) return;
  const leave = gateway.bounds.agents.enter(String(companyId));
  try {
    let limits: readonly Header[] = [];
    let isRevoked = false;
    const response = await gateway.agents.ask({ scopes, headers, body }, async (request) => {
      // Its time is that of the tool's request, which may wait for something to read.
      const resume = exchange.hold(ignore);
      exchange.unlisted();
      const { headers: answered, ...served } = await serveToolCall(gateway, exchange, apiKey, request);
      resume();
      gateway.uses.called(companyId, request.tool, served.status);
      limits = answered.filter(([name]) => /^(X-)?RateLimit/.test(name));
      isRevoked ||= served.status === 401;
      return served;
    });
    if (isRevoked) throw problem('unauthorized');
    const type: readonly Header[] = response.contentType ? [['Content-Type', response.contentType]] : [];
    exchange.answer(response.status, response.body || null, [...type, noStore, ...limits]);
  } finally {
    leave();
  }
};

/**
 * `mcp leads_create`, by the header alone: a client of the revision 2026-07-28 names the tool there, and the protocol refuses a
 * name that is not the body's. Other names, which callers can invent, are left out.
 */
const labelOf = (name: string | undefined): string => (toolNames.has(name ?? '') ? `mcp ${name}` : 'mcp');

const ignore = (): void => {};

const noStore: Header = ['Cache-Control', 'no-store'];

/** Clients of the protocol send a bearer token. With two keys, nobody could say which one counts. */
const keyOf = (header: string, authorization: string): string => {
  const [, token = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (header !== '' && token !== '' && header !== token) return '';
  return header || token;
};

const readAgentHead = (request: HttpRequest) => {
  const headers: Record<string, string> = {};
  request.forEach((name, value) => {
    if (name === 'accept' || name === 'content-type' || name.startsWith('mcp-')) headers[name] = value;
  });
  return { headers, authorization: request.getHeader('authorization') };
};
