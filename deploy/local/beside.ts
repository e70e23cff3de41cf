import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startInbox } from './inbox/inbox.ts';
import { freePort, isPortFree } from './ports.ts';
import { startReceiver } from './receiver/receiver.ts';

/**
 * The webhook receiver and the inbox of mails, in this process. They keep their ports across starts of a home unless others take
 * them, because subscriptions are kept too.
 */
export const startBeside = async (home: string) => {
  const receiver = await startReceiver({
    port: await portOf(join(home, 'receiver.port')),
    keep: 1000,
    say: logTo(join(home, 'logs', 'receiver.log')),
  });
  const sayMail = logTo(join(home, 'logs', 'inbox.log'));
  const inbox = await startInbox({
    port: await portOf(join(home, 'inbox.port')),
    onMail: async ({ subject, to }) => sayMail(`mail to ${to}: ${subject}`),
  });
  return {
    receiverUrl: `${receiver.url}/`,
    inboxUrl: inbox.url,
    smtpUrl: inbox.smtpUrl,
    close: async () => void (await Promise.all([receiver.close(), inbox.close()])),
  };
};

const logTo = (file: string): ((line: string) => void) => {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  // A full disk must not end the cluster.
  stream.on('error', () => {});
  return (line) => void stream.write(`${line}\n`);
};

const portOf = async (file: string): Promise<number> => {
  const lastPort = read(file);
  if (lastPort > 0 && (await isPortFree(lastPort, '127.0.0.1'))) return lastPort;
  const port = await freePort();
  writeFileSync(file, `${port}\n`, { mode: 0o600 });
  return port;
};

const read = (file: string): number => {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
};
