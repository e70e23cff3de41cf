import { parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { agentsConfig } from './config.ts';
import { startAgents } from './service.ts';

await runProcess(
  'agents',
  () => parseConfig(agentsConfig, readEnv('agents')),
  async (kit, config) => {
    const { port } = await startAgents(kit, config);
    kit.log.info({ port }, 'listening');
  },
);
