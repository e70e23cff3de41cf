import { relative } from 'node:path';
import { styleText } from 'node:util';
import type { Stack } from './stack.ts';

/** The addresses and credentials that a person needs once the cluster runs. */
export const readyScreen = (stack: Stack, { home, elapsedMs, detached }: ScreenOptions): string => {
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

/** Sends every new client to the receiver beside the cluster. */
const subscription = ({ receiverUrl }: Stack): string =>
  JSON.stringify({ url: `${receiverUrl}hook`, eventTypes: ['client.created'] });

interface ScreenOptions {
  readonly home: string;
  readonly elapsedMs: number;
  readonly detached: boolean;
}
