import { connectBus, parseConfig, readEnv, runProcess } from '@causeway/runtime';
import { dispatcherConfig } from './config.ts';

// No deliveries exist to be sent: the process keeps its place in the cluster and its connection.
await runProcess(
  'dispatcher',
  () => parseConfig(dispatcherConfig, readEnv()),
  async (kit, config) => {
    const { instance, log } = kit;
    const bus = await connectBus({ url: config.NATS_URL, name: 'dispatcher', instance, log });
    kit.onStop('NATS', () => bus.close());
    kit.ready('NATS', () => bus.connected());
  },
);
