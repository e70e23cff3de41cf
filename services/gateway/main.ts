import { parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { openCells } from './cells/open-cells.ts';
import { gatewayConfig } from './config.ts';
import { startGateway } from './service.ts';

await runProcess(
  'gateway',
  () => parseConfig(gatewayConfig, readEnv()),
  async (kit, config) => {
    await startGateway(kit, await openCells(kit, config), config);
  },
);
