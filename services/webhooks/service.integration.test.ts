import { laneSubject, operations, replyPrefix } from '@causeway/proto';
import { connectBus, createLaneClient, createLog } from '@causeway/runtime';
import { testNats } from '@causeway/runtime/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhooks } from './service.ts';

test('an operation that is not built yet is answered 501', async () => {
  const nats = await testNats();
  const bus = await connectBus({ url: nats.url, name: 'test' });
  const { log } = createLog({ name: 'webhooks', instance: 'test', level: 'silent' });
  const service = await createWebhooks({ bus, instance: 'webhooks-test', log });
  const lane = createLaneClient({
    bus,
    lane: 'webhooks',
    subject: laneSubject('webhooks'),
    replySubject: `${replyPrefix('gateway')}.test.webhooks`,
  });
  onTestFinished(async () => {
    await service.drain();
    lane.close();
    await bus.close();
  });
  const planned = operations.filter(
    (operation) => operation.service === 'webhooks' && !operation.implemented,
  );
  expect(planned.length).toBeGreaterThan(0);
  for (const { id } of planned) {
    const { status, body } = await lane.request({
      operation: id,
      tenant: 1,
      caller: 1,
      requestId: 'test',
      traceparent: '',
      budgetMs: 5000,
      params: [],
      query: '',
      body: new Uint8Array(),
    });
    expect(status, id).toBe(501);
    expect(JSON.parse(String(body)), id).toEqual({ error: expect.any(String) });
  }
});
