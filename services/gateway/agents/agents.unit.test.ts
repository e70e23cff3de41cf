import { createLog } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { createAgents } from './agents.ts';

const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const request = (method: string, params: object = {}) => ({
  scopes: ['integrations:read'],
  headers,
  body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })),
});
const hanging = () => new Promise<never>(() => {});

test('requests under way fail when the thread ends, and the next one starts another', async () => {
  const agents = createAgents(log);
  cleanUp(() => agents.close());
  const called = Promise.withResolvers<void>();
  const call = agents.ask(request('tools/call', { name: 'lookups_employees' }), () => {
    called.resolve();
    return hanging();
  });
  const failed = expect(call).rejects.toMatchObject({ code: 'service_unavailable' });
  await called.promise;
  await agents.close();
  await failed;
  const { status, body } = await agents.ask(request('tools/list'), hanging);
  expect([status, body]).toEqual([200, expect.stringContaining('lookups_employees')]);
});
