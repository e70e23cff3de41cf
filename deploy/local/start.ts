import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { collectAtRest, readEnv } from '@causeway/runtime';
import { startCluster } from './cluster.ts';
import { claim, homeOf, prepareHome, readStack, type Stack } from './home.ts';
import { parseOptions, type StartOptions, usage } from './options.ts';
import { type Report, remoteReport, replay, terminalReport } from './report.ts';
import { explainDisk, SetupError } from './setup-error.ts';
import { giveUp } from './toolchain/terminal.mjs';
import { readToolchain } from './toolchain.ts';
import { watchSources } from './watch.ts';

const root = resolve(import.meta.dirname, '../..');
/** Marks the background process that `--detach` starts. */
const stays = '--stay';

const main = async (): Promise<void> => {
  const args = process.argv.slice(2);
  const staying = args.includes(stays);
  const options = parseOptions(args.filter((arg) => arg !== stays));
  if (options.help) return void process.stdout.write(usage);
  const home = homeOf(readEnv(), root);
  if (options.detach && !staying) return startDetached(home, args);
  await run(home, options, staying ? remoteReport : terminalReport);
};

const run = async (home: string, options: StartOptions, report: Report): Promise<void> => {
  const startedMs = performance.now();
  prepareHome(home);
  const release = await claim(home).catch((error) => Promise.reject(explainDisk(error, home)));
  if (!release) throw new SetupError(alreadyRuns(home));

  // A log on a full disk, or a closed terminal, must not end the cluster.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  // The first signal cancels the start or stops the cluster; further ones change nothing.
  const stopAsked = new AbortController();
  const stopRequest = new Promise<void>((done) => stopAsked.signal.addEventListener('abort', () => done()));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stopAsked.abort());
  if (process.connected) process.once('disconnect', () => ready || stopAsked.abort());
  let ready = false;

  try {
    const cluster = await startCluster({
      root,
      home,
      env: readEnv(),
      toolchain: readToolchain(readEnv()),
      options,
      report,
      signal: stopAsked.signal,
    });
    ready = true;
    announce(cluster.stack, home, performance.now() - startedMs);
    collectAtRest();
    if (options.watch) watchSources({ root, cluster, report, signal: stopAsked.signal });
    await stopRequest;
    report.line('\nStopping …');
    await cluster.stop();
    report.line('Stopped; everything is kept for the next start.');
  } catch (error) {
    if (!stopAsked.signal.aborted) throw error;
    report.line('\nCalled off; nothing is left running.');
  }
  release();
  process.exit(0);
};

const announce = (stack: Stack, home: string, elapsedMs: number): void => {
  if (process.connected) {
    process.send?.({ type: 'ready', elapsedMs });
    process.disconnect();
  } else {
    process.stdout.write(readyScreen(stack, { home, elapsedMs, detached: false }));
  }
};

const startDetached = async (home: string, args: readonly string[]): Promise<void> => {
  prepareHome(home);
  const log = openSync(join(home, 'logs', 'supervisor.log'), 'a', 0o600);
  const child = fork(fileURLToPath(import.meta.url), [...args, stays], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill('SIGTERM'));
  const show = replay();
  await new Promise<void>((done, reject) => {
    child.on('message', (message: { type: string; elapsedMs?: number; text?: string; detail?: string }) => {
      show(message);
      if (message.type === 'failed') reject(new SetupError(message.text, { cause: message.detail }));
      const stack = message.type === 'ready' ? readStack(home) : undefined;
      if (!stack) return;
      process.stdout.write(readyScreen(stack, { home, elapsedMs: message.elapsedMs ?? 0, detached: true }));
      done();
    });
    child.on('exit', () =>
      reject(new SetupError(`The start ended early; its log is ${home}/logs/supervisor.log.`)),
    );
  });
  process.exit(0);
};

const alreadyRuns = (home: string): string => {
  const url = readStack(home)?.baseUrl;
  return url
    ? `This stack already runs, at ${url}; \`npm stop\` ends it, and another STACK_HOME with another --port makes a second one.`
    : 'This stack is being started or stopped by another command; try again in a moment.';
};

const fail = (error: Error): void => {
  if (!process.connected) giveUp(error);
  const detail = error instanceof SetupError ? error.cause : error.stack;
  const message = { type: 'failed', text: error.message, detail: typeof detail === 'string' ? detail : '' };
  process.send?.(message, () => giveUp(error));
};

const readyScreen = (stack: Stack, { home, elapsedMs, detached }: ScreenOptions): string => {
  const dim = (text: string) => styleText('dim', text, { stream: process.stdout });
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const near = relative(process.cwd(), home) || '.';
  const place = near.startsWith('..') ? home : near;
  const rows: readonly (readonly [string, string])[] = [
    ['Interface', `${stack.baseUrl}/api/v1`],
    ['OpenAPI', `${stack.baseUrl}/api/v1/openapi.json`],
    ['Portal', stack.portalUrl],
    ['', `${stack.portalEmail}  ${stack.portalPassword}`],
    ['API key', `${stack.apiKey}  ${dim('(all scopes)')}`],
    ['Receiver', `webhook receiver ${stack.receiverUrl}  ${dim(`(what came: ${place}/logs/receiver.log)`)}`],
    ['Inbox', `mails ${stack.inboxUrl}`],
    ['Logs', `${place}/logs`],
  ];
  return [
    '',
    `  ${bold('Causeway is running')}  ${dim(`ready in ${(elapsedMs / 1000).toFixed(1)} s`)}`,
    '',
    ...rows.map(([label, value]) => `  ${dim(label.padEnd(11))}${value}`),
    '',
    `  ${dim('Try it:')}`,
    '',
    `  curl -H 'X-Api-Key: ${stack.apiKey}' ${stack.baseUrl}/api/v1/integrations/lookups/employees`,
    '',
    `  curl -H 'X-Api-Key: ${stack.apiKey}' -d '${subscription(stack)}' ${stack.baseUrl}/api/v1/webhooks/subscriptions`,
    '',
    `  ${dim(detached ? 'npm stop ends it.' : 'Ctrl-C ends it.')}`,
    '',
    '',
  ].join('\n');
};

const subscription = ({ receiverUrl }: Stack): string =>
  JSON.stringify({ url: `${receiverUrl}hook`, eventTypes: ['client.created'] });

interface ScreenOptions {
  readonly home: string;
  readonly elapsedMs: number;
  readonly detached: boolean;
}

await main().catch(fail);
