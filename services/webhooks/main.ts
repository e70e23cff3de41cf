import { connectBus, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { webhooksConfig } from './config.ts';
import { createWebhooks } from './service.ts';

await runProcess(
  'webhooks',
  () => parseConfig(webhooksConfig, readEnv()),
  async (kit, config) => {
    const { instance, log, metrics } = kit;
    const bus = await connectBus({ url: config.NATS_URL, name: 'webhooks', instance, log });
    kit.onStop('NATS', () => bus.close());
    kit.ready('NATS', () => bus.connected());
    const webhooks = await createWebhooks({ bus, instance, log, metrics });
    kit.onStop('service', () => webhooks.drain());
  },
);
