import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { clientInterface } from './generate.ts';
import {
  type Causeway,
  CausewayError,
  ConnectionLost,
  createClient,
  Invalid,
  RateLimited,
  TimedOut,
  Unavailable,
} from './index.ts';

test('the generated types are current: every command of `npm run` and `npm test` writes them', () => {
  const file = new URL('./interface.generated.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(clientInterface());
});

interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server that answers the n-th request by the n-th function, and further ones by the last. */
const serve = async (...answers: readonly ((response: ServerResponse) => void)[]) => {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    let body = '';
    for await (const chunk of request) body += chunk;
    arrived.push({ method: method!, url: url!, headers, body });
    answers[Math.min(arrived.length, answers.length) - 1]!(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const causeway: Causeway = createClient({ baseUrl, apiKey: 'crm_1_secret', maxRetries: 2 });
  return { arrived, causeway, baseUrl };
};

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers });
    response.end(JSON.stringify(body));
  };
const drop = (response: ServerResponse): void => void response.destroy();
const silent = (): void => {};

const lead = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com' };
const made = { client_id: 7, status: 'Lead - New', created_utc: '2026-01-15T09:30:00.000Z' };
const keysOf = (arrived: readonly Arrived[]) => arrived.map(({ headers }) => headers['idempotency-key']);

test('a create whose answer was lost is sent again with the same Idempotency-Key', async () => {
  const { arrived, causeway } = await serve(
    drop,
    json(504, { error: 'late', reason: 'timeout' }),
    json(201, made),
  );
  expect(await causeway.leads.create(lead)).toEqual(made);
  expect(new Set(keysOf(arrived)).size).toBe(1);
  expect(arrived.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual(
    Array(3).fill(['POST', '/api/v1/integrations/leads', lead]),
  );
  await causeway.leads.create(lead);
  expect(new Set(keysOf(arrived)).size).toBe(2);
  await causeway.leads.create(lead, { idempotencyKey: 'mine' });
  expect(keysOf(arrived).at(-1)).toBe('mine');
});

test('429 is retried after Retry-After, and tells its limit in the end', async () => {
  const body = {
    error: 'too many',
    retryAfter: 1,
    limit: 60,
    window: '1m',
    policy: 'read:60/1m',
    resetUtc: '',
    currentUsage: 61,
  };
  const limited = json(429, body, { 'retry-after': '1' });
  const { causeway, arrived } = await serve(limited, json(200, { employees: [], count: 0 }), limited);
  const startMs = performance.now();
  expect(await causeway.lookups.employees()).toEqual({ employees: [], count: 0 });
  expect(performance.now() - startMs).toBeGreaterThan(1000);
  const refused = await causeway.lookups.employees({ maxRetries: 0 }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RateLimited);
  expect(refused).toMatchObject({
    retryAfter: 1,
    limit: 60,
    currentUsage: 61,
    requestId: 'r-1',
    status: 429,
  });
  expect(arrived).toHaveLength(3);
});

test('503 did nothing, so each operation is retried', async () => {
  const away = json(503, { error: 'away', reason: 'service_unavailable' }, { 'retry-after': '1' });
  const { causeway, arrived } = await serve(away, json(200, made), away);
  await causeway.leads.updateStatus(7, { new_status: 'Lead - New', status_note: 'called' });
  expect(arrived).toHaveLength(2);
  const failed = await causeway.events.get(1, { maxRetries: 0 }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(Unavailable);
  expect(failed).toMatchObject({ reason: 'service_unavailable' });
});

test('an update that would do its work twice, or fail because it is done, is not sent again when its answer is lost', async () => {
  const { causeway, arrived } = await serve(drop);
  const note = causeway.leads.updateStatus(7, { new_status: 'Lead - New', status_note: 'called' });
  await expect(note).rejects.toBeInstanceOf(ConnectionLost);
  await expect(causeway.people.get(7, { maxRetries: 0 })).rejects.toBeInstanceOf(ConnectionLost);
  await expect(causeway.leads.update(7, { city: 'Bern' }, { ifMatch: 2 })).rejects.toBeInstanceOf(
    ConnectionLost,
  );
  expect(arrived).toHaveLength(3);
  expect(arrived[2]?.headers['if-match']).toBe('"2"');
  await expect(causeway.leads.update(7, { city: 'Bern' })).rejects.toBeInstanceOf(ConnectionLost);
  expect(arrived).toHaveLength(6);
});

test('a deletion whose answer was lost has succeeded if the record is gone', async () => {
  const gone = json(404, { error: 'not found' });
  const { causeway } = await serve(drop, gone, gone);
  expect(await causeway.subscriptions.delete(3)).toBeUndefined();
  await expect(causeway.subscriptions.delete(3)).rejects.toMatchObject({ name: 'NotFound', status: 404 });
});

test('refusals are not retried, and list every problem', async () => {
  const details = [{ field: 'email', code: 'email_invalid', message: 'email is not an address' }];
  const { causeway, arrived } = await serve(json(400, { error: 'email is not an address', details }));
  const refused = await causeway.leads.create(lead).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Invalid);
  expect(refused).toMatchObject({ message: 'email is not an address', details });
  expect(arrived).toHaveLength(1);
});

test('an answer that does not come is a TimedOut, and an abort ends a call with its own reason', async () => {
  const { causeway } = await serve(silent);
  const late = causeway.events.get(1, { timeoutMs: 20, maxRetries: 1 });
  await expect(late).rejects.toBeInstanceOf(TimedOut);
  const stop = new AbortController();
  const waiting = causeway.events.get(1, { signal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});

test('an abort ends the wait before a retry', async () => {
  const { causeway } = await serve(json(429, { error: 'too many' }, { 'retry-after': '999999' }));
  const stop = new AbortController();
  const waiting = causeway.events.get(1, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 50);
  await expect(waiting).rejects.toThrow('enough');
});

test('a redirect is refused, so that no other server learns the key', async () => {
  const other = await serve(json(200, {}));
  const { causeway } = await serve((response) =>
    response.writeHead(307, { location: `${other.baseUrl}/api/v1/events/1` }).end(),
  );
  await expect(causeway.events.get(1)).rejects.toBeInstanceOf(CausewayError);
  expect(other.arrived).toEqual([]);
});

test('a proxy that answers with a page makes an error, not a crash', async () => {
  const { causeway } = await serve((response) => response.writeHead(502).end('<html>bad gateway</html>'));
  const failed = await causeway.events.get(1).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    status: 502,
    body: '<html>bad gateway</html>',
    message: 'the server answered 502',
  });
});

test('a page with status 200, as of a portal that asks to sign in, is an error and not retried', async () => {
  const { causeway, arrived } = await serve((response) =>
    response.writeHead(200).end('<html>sign in</html>'),
  );
  await expect(causeway.me.get()).rejects.toThrow('is not JSON');
  expect(arrived).toHaveLength(1);
});

test('a list is read page by page as it is iterated, and awaits to one page', async () => {
  const page = (ids: readonly number[], nextCursor: string | null, hasMore: boolean) =>
    json(200, { events: ids.map((id) => ({ id })), nextCursor, hasMore });
  const { causeway, arrived } = await serve(
    page([1, 2], 'a', true),
    page([], 'b', true),
    page([3], 'c', false),
  );
  const seen: number[] = [];
  for await (const { id } of causeway.events.list({ order: 'asc', type: 'lead.created' })) seen.push(id);
  expect(seen).toEqual([1, 2, 3]);
  expect(arrived.map(({ url }) => url.split('?')[1])).toEqual([
    'order=asc&type=lead.created',
    'order=asc&type=lead.created&cursor=a',
    'order=asc&type=lead.created&cursor=b',
  ]);
  expect((await causeway.events.list()).nextCursor).toBe('c');
  // With `wait`, reading goes on after the last page.
  let pages = 0;
  for await (const { nextCursor } of causeway.changes.list({ wait: 1, cursor: 'x' }).pages()) {
    expect(nextCursor).toBe('c');
    if (++pages === 3) break;
  }
  expect(arrived.at(-1)?.url).toBe('/api/v1/integrations/changes?wait=1&cursor=c');
});

test('ids cannot leave their place in the path', async () => {
  const { causeway, arrived } = await serve(json(404, { error: 'not found' }));
  await expect(causeway.people.get('7/../../me?x=' as never)).rejects.toThrow();
  expect(arrived[0]?.url).toBe('/api/v1/integrations/people/7%2F..%2F..%2Fme%3Fx%3D');
});
