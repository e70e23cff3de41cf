import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Received, testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();
const run = promisify(execFile);

describe('The quick start', () => {
  test('copied as curl creates a lead at this installation', async () => {
    const { team, page } = await portal.openOwner();
    const key = await openSubscriber(world, receiver, team).key();
    await visit(page, 'developers', 'Developers');
    await page.getByRole('button', { name: 'Copy program in curl' }).click();
    const program = await clipboard(page);
    expect(program).toContain(`${world.baseUrl}/api/v1`);
    await run('bash', ['-c', program], { env: { ...process.env, CAUSEWAY_KEY: key } });
    const { json } = await world.ask('/events', { key });
    expect(json.events.map(({ type }: { type: string }) => type)).toContain('lead.created');
  });

  test('shows nine languages, chosen with the arrow keys and kept in the URL', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'developers', 'Developers');
    const languages = page.getByRole('tablist', { name: 'Languages' });
    await see(languages.getByRole('tab')).toHaveText([
      'curl',
      'Node',
      'TypeScript',
      'Python',
      'PHP',
      'Go',
      'Ruby',
      'Java',
      'C#',
    ]);
    await languages.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await see(page).toHaveURL(/language=node/);
    await see(page.getByRole('button', { name: 'Copy program in Node' })).toBeVisible();
  });
});

describe('The signature checker', () => {
  const check = async (
    page: Page,
    given: { secret: string; headers: string; body: string },
  ): Promise<void> => {
    await page.getByLabel('Signing secret').fill(given.secret);
    await page.getByLabel('Headers').fill(given.headers);
    await page.getByLabel('Body').fill(given.body);
    await page.getByRole('button', { name: 'Check signature' }).click();
  };
  const headersOf = ({ headers }: Received): string =>
    Object.entries(headers)
      .map((pair) => pair.join(': '))
      .join('\n');

  test('accepts a real delivery, and names each possible problem', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    const { signingSecret: secret } = await subscriber.subscribe();
    await subscriber.createClients(1);
    const delivery = await until('it arrives', () => subscriber.received()[0]);
    const right = { secret, headers: headersOf(delivery), body: String(delivery.body) };
    await visit(page, 'developers?tab=checker', 'Developers');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.postData() ?? ''));
    const wrong: [Partial<typeof right>, string][] = [
      [{}, 'X-Webhook-Signature is valid'],
      [{}, 'webhook-signature (Standard Webhooks) is valid'],
      [{ body: `${right.body}\n` }, 'The body has an extra line break at its end'],
      [{ secret: `${secret} ` }, 'The secret has spaces or a line break around it'],
      [{ secret: secret.replace('whsec_', '') }, 'The secret does not begin with whsec_'],
      [{ body: JSON.stringify(JSON.parse(right.body), null, 2) }, 'The body was parsed and serialized again'],
      [{ body: right.body.replace('Käthe', 'Kathe') }, 'X-Webhook-Signature does not match'],
      [
        {
          headers: right.headers
            .replace(/X-Webhook-Timestamp.*\n/i, '')
            .replace(/webhook-timestamp.*\n/i, ''),
        },
        'X-Webhook-Timestamp is missing',
      ],
      [{ headers: right.headers.replace(/(timestamp: )\d+/gi, '$11700000000') }, 'seconds old'],
    ];
    for (const [change, said] of wrong) {
      await check(page, { ...right, ...change });
      await see(page.getByText(said).first(), said).toBeVisible();
    }
    expect(sent.join('')).not.toContain(secret.slice(10));
  });
});

test('The page leads to the reference and the contract', async () => {
  const { page } = await portal.openOwner();
  for (const name of ['reference', 'contract']) {
    await visit(page, 'developers', 'Developers');
    await page.getByRole('link', { name, exact: true }).click();
    await see(page.getByRole('heading', { level: 1 })).toHaveText(new RegExp(name, 'i'));
  }
});
