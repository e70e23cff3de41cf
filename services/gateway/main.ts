import { connectBus, natsAddress, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { gatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

await runProcess(
  'gateway',
  () => parseConfig(gatewayConfig, readEnv()),
  async (kit, config) => {
    const { instance, log } = kit;
    const bus = await connectBus({ ...natsAddress(config), name: 'gateway', instance, log });
    kit.onStop('NATS', () => bus.close());
    await startGateway(kit, bus, config);
  },
);
