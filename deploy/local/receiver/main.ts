import { parseArgs } from 'node:util';
import { startReceiver } from './receiver.ts';

// `node deploy/local/bootstrap.mjs deploy/local/receiver/main.ts [--port N] [--count]`: the receiver without a cluster.

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, count: { type: 'boolean', default: false } },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const receiver = await startReceiver({ port: Number(values.port), counting: values.count, keep: 1000, say });
say(`webhook receiver ${receiver.url}/`);

const end = (): void => void receiver.close().then(() => process.exit(0));
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
