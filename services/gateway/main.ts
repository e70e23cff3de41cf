import { openBus, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { gatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

await runProcess(
  'gateway',
  () => parseConfig(gatewayConfig, readEnv('gateway')),
  async (kit, config) => {
    await startGateway(kit, await openBus(kit, config), config);
  },
);
