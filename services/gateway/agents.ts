import type { IncomingHttpHeaders } from 'node:http';
import { calledHeader, maxAgentBytes, methodNotAllowed, Problem, problem } from '@causeway/proto';
import type { AnswerRules, Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { noBody } from './http/body.ts';
import type { HttpRequest } from './http/uws.ts';
import { authenticate, keyAnswers } from './keys/serve.ts';
import type { Header } from './limits/limiter.ts';

export const agentAnswers: AnswerRules = { ...keyAnswers, unnamed: 'mcp', shapeOf: () => 'general' };

/**
 * Contract, "Agents". The process `agents` speaks the protocol and calls the interface back with the same key, so here
 * the key only lets the request in. Call it before the request's handler returns.
 */
export const serveAgent = (gateway: Gateway, exchange: Exchange, request: HttpRequest): Promise<void> => {
  const { headers, authorization } = readAgentHead(request);
  const apiKey = keyOf(exchange.head.apiKey, authorization);
  const authenticated = authenticate(gateway, exchange, apiKey);
  const reading = exchange.read(gateway.bodies, maxAgentBytes);
  return authenticated.then(async (key) => {
    if (exchange.head.method !== 'POST') throw methodNotAllowed('POST');
    const unreadable = Object.keys(headers).find((name) => !/^[\t\x20-\x7e]*$/.test(headers[name]!));
    if (unreadable !== undefined) throw invalidHeader(unreadable);
    exchange.counted('');
    const body = reading ? await reading.body : noBody;
    if (body instanceof Problem) throw body;
    if (exchange.over) return;
    const { companyId, scopes } = key;
    const leave = gateway.bounds.agents.enter(String(companyId));
    try {
      const gone = new AbortController();
      // The time is that of the tool's request, which may wait for something to read.
      const resume = exchange.hold(() => gone.abort());
      const answering = gateway.agents.ask(
        {
          ...headers,
          'x-api-key': apiKey,
          'x-request-id': exchange.requestId,
          'x-forwarded-for': exchange.address,
          'x-causeway-company': String(companyId),
          'x-causeway-scopes': scopes.join(','),
          traceparent: exchange.traceparent,
        },
        body,
        gone.signal,
      );
      reading?.release();
      const answer = await answering;
      resume();
      if (answer.headers[calledHeader.toLowerCase()]) exchange.leaveOutOfLog();
      if (answer.status === 401) throw problem('unauthorized');
      exchange.answer(answer.status, answer.body, [...passedOn(answer.headers), noStore]);
    } finally {
      leave();
    }
  });
};

const passedOn = (headers: IncomingHttpHeaders): readonly Header[] =>
  Object.entries(headers)
    .filter(([name]) => /^(?:content-type|(?:x-)?ratelimit.*)$/.test(name))
    .map(([name, value]) => [name, String(value)]);

const noStore: Header = ['Cache-Control', 'no-store'];

const invalidHeader = (name: string): Problem =>
  new Problem({ code: 'invalid_request', publicMessage: `the header ${name} is not valid` });

/** Clients of the protocol send a bearer token. With two keys, nobody could say which one counts. */
const keyOf = (header: string, authorization: string): string => {
  const [, token = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (header !== '' && token !== '' && header !== token) return '';
  return header || token;
};

/** No other header of the client reaches `agents`. */
const readAgentHead = (request: HttpRequest) => {
  const headers: Record<string, string> = {};
  request.forEach((name, value) => {
    if (name !== 'origin' && !name.startsWith('mcp-')) return;
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  });
  return { headers, authorization: request.getHeader('authorization') };
};
