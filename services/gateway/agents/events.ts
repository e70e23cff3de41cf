import {
  type AnswerTo,
  agentOperations,
  type EventType,
  eventCatalog,
  isEventType,
  parseJson,
} from '@causeway/proto';
import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ToolAnswer } from './messages.ts';
import type { AskTool } from './server.ts';

/**
 * MCP Events, the protocol's extension for events (SEP-3415), without `events/stream`: `/mcp` answers each request at once.
 * The package
 * for the protocol knows none of its methods (2.4), so they are written here, after the extension's text and the drafts that its
 * clients follow.
 */
export const serveEvents = (server: Server, scopes: readonly string[], ask: AskTool): void => {
  const modes = [
    ...(scopes.includes('events:read') ? ['poll'] : []),
    ...(scopes.includes('webhooks:write') ? ['webhook'] : []),
  ];
  server.setRequestHandler('events/list', { params: anything }, () => ({
    events: modes.length === 0 ? [] : listed.map((event) => ({ ...event, delivery: modes })),
  }));
  server.setRequestHandler('events/poll', { params: polling }, (params) =>
    poll(typeNamed(params), params, ask),
  );
  server.setRequestHandler('events/subscribe', { params: subscribing }, async (params) => {
    const { delivery, ttlMs, cursor } = params;
    const { url, secret } = delivery;
    // Null asks for a subscription without an end, and gets the longest.
    const wanted = ttlMs === null ? { ttlMs: Number.MAX_SAFE_INTEGER } : { ttlMs };
    const request = { name: typeNamed(params), url, secret, ...wanted };
    const answer = await ask(requestTo('subscribeAgent', request));
    const { id, refreshBefore, deliveryStatus } = resultOf(answer, 'subscription') as Subscribed;
    // A subscription begins now, or goes on; what was before, `events/poll` tells from a cursor.
    const truncated = deliveryStatus === null && typeof cursor === 'string';
    return { id, refreshBefore, cursor: null, truncated, ...(deliveryStatus && { deliveryStatus }) };
  });
  server.setRequestHandler('events/unsubscribe', { params: unsubscribing }, async (params) => {
    const { url } = params.delivery;
    resultOf(await ask(requestTo('unsubscribeAgent', { name: typeNamed(params), url })), 'subscription');
    return {};
  });
};

/** The extension's final text names it among the extensions; clients of its drafts look for a capability. */
export const eventsCapability = { events: {}, extensions: { 'io.modelcontextprotocol/events': {} } };

interface Subscribed {
  readonly id: string;
  readonly refreshBefore: string;
  readonly deliveryStatus: object | null;
}

const anything = z.looseObject({});
const named = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullish() });
const polling = named.extend({
  cursor: z.string().nullish(),
  maxAgeMs: z.number().int().min(0).nullish(),
  maxEvents: z.number().int().min(1).nullish(),
});
const subscribing = named.extend({
  delivery: z.looseObject({ mode: z.literal('webhook').optional(), url: z.string(), secret: z.string() }),
  cursor: z.string().nullish(),
  ttlMs: z.number().int().nullish(),
});
const unsubscribing = named.extend({ delivery: z.looseObject({ url: z.string() }) });

const typeNamed = ({ name, arguments: given }: z.infer<typeof named>): EventType => {
  if (!isEventType(name)) throw new ProtocolError(notFound, `there is no event ${name}`, { kind: 'event' });
  const [unknown] = Object.keys(given ?? {});
  if (unknown !== undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${name} has no argument ${unknown}`);
  return name;
};

const requestTo = (id: (typeof agentOperations)[number]['id'], body: object) => {
  const { method, path } = agentOperations.find((operation) => operation.id === id)!;
  return {
    tool: id === 'subscribeAgent' ? 'events/subscribe' : 'events/unsubscribe',
    method,
    path,
    query: '',
    body: JSON.stringify(body),
    idempotencyKey: undefined,
  };
};

const maxEvents = 100;
/** Six of the sixty reads that a key has by default. */
const nextPollMs = 10_000;

const poll = async (
  type: EventType,
  { cursor, maxAgeMs, ...params }: z.infer<typeof polling>,
  ask: AskTool,
) => {
  const limit = Math.min(params.maxEvents ?? maxEvents, maxEvents);
  const page = (from: string | undefined) => {
    const query = new URLSearchParams({
      type,
      order: 'asc',
      limit: String(limit),
      ...(from && { cursor: from }),
    });
    return ask({
      tool: 'events/poll',
      method: 'GET',
      path: '/events',
      query: query.toString(),
      body: null,
      idempotencyKey: undefined,
    });
  };
  const first = await page(cursor ?? 'latest');
  const isExpired = first.status === 410;
  const answer = resultOf(isExpired ? await page(undefined) : first, 'event') as AnswerTo<'listEvents'>;
  const oldestMs = maxAgeMs == null ? 0 : Date.now() - maxAgeMs;
  const events = answer.events.filter(({ createdUtc }) => Date.parse(createdUtc) >= oldestMs);
  return {
    events: events.map((event) => ({
      eventId: String(event.id),
      name: event.type,
      timestamp: event.createdUtc,
      data: event,
    })),
    cursor: answer.nextCursor,
    truncated: isExpired || events.length < answer.events.length,
    hasMore: answer.hasMore,
    nextPollMs,
  };
};

const [notFound, forbidden, exhausted, unreachable] = [-32_011, -32_012, -32_013, -32_015];

/** @param kind what a 404 did not find. @throws ProtocolError */
const resultOf = ({ status, body, retryAfter, requestId }: ToolAnswer, kind: string): unknown => {
  if (status < 300) return body ? parseJson(body) : {};
  const { error = `status ${status}`, quota, limit, reason } = JSON.parse(body ?? '{}') as Refusal;
  if (status === 404) throw new ProtocolError(notFound, error, { kind });
  if (status === 403) throw new ProtocolError(forbidden, error);
  if (status === 409) throw new ProtocolError(unreachable, error, { reason });
  if (quota) throw new ProtocolError(exhausted, error, { limit: quota, max: limit });
  if (status === 429)
    throw new ProtocolError(
      exhausted,
      `the limit of the API key is reached; wait ${retryAfter ?? 1} seconds`,
      {
        limit: 'requests',
        retryAfter: Number(retryAfter ?? 1),
      },
    );
  if (status < 500) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error);
  throw new ProtocolError(ProtocolErrorCode.InternalError, `${error}; request ID ${requestId}`);
};

interface Refusal {
  readonly error?: string;
  readonly quota?: string;
  readonly limit?: number;
  readonly reason?: string;
}

/** Without arguments: a subscription is to all events of its type. */
const listed = eventCatalog(new Date()).map(({ type, title, description, schema }) => ({
  name: type,
  title,
  description,
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  /** Of the envelope. */
  payloadSchema: {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      type: { const: type },
      createdUtc: { type: 'string', format: 'date-time' },
      companyId: { type: 'integer' },
      payload: schema,
    },
    required: ['id', 'type', 'createdUtc', 'companyId', 'payload'],
  },
}));
