import { parseArgs } from 'node:util';
import { startInbox } from './inbox.ts';

// `node deploy/local/bootstrap.mjs deploy/local/inbox/main.ts [--port N] [--smtp-port N]`; `npm start` runs one.

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, 'smtp-port': { type: 'string', default: '0' } },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const inbox = await startInbox({
  port: Number(values.port),
  smtpPort: Number(values['smtp-port']),
  onMail: async ({ subject, to }) => say(`mail to ${to}: ${subject}`),
});
say(`inbox ${inbox.url}, mails at ${inbox.smtpUrl}`);
process.send?.({ type: 'ready', metricsUrl: null });

const end = (): void => void inbox.close().then(() => process.exit(0));
for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(name, end);
