import { connectBus, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { gatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

await runProcess(
  'gateway',
  () => parseConfig(gatewayConfig, readEnv()),
  async (kit, config) => {
    const { instance, log } = kit;
    const bus = await connectBus({ url: config.NATS_URL, name: 'gateway', instance, log });
    kit.onStop('NATS', () => bus.close());
    await startGateway(kit, bus, config);
  },
);
