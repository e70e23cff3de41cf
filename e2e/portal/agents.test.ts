import { testReceiver } from '@causeway/runtime/testing';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await testReceiver();

test('the address and the configuration of the page connect an agent', async () => {
  const { team, page } = await portal.openOwner();
  const key = await openSubscriber(portal.world, receiver, team).key();
  await visit(page, 'developers', 'Developers');
  const address = `${portal.world.baseUrl}/mcp`;
  await page.getByRole('button', { name: 'Copy configuration for Claude Code' }).click();
  expect(await clipboard(page)).toContain(`causeway ${address}`);
  await page.getByRole('button', { name: 'Copy configuration for other programs' }).click();
  const { url, headers } = JSON.parse(await clipboard(page)).mcpServers.causeway;
  expect(url).toBe(address);

  const Authorization = headers.Authorization.replace('YOUR_API_KEY', key);
  const agent = new Client({ name: 'test', version: '1' });
  await agent.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization } } }),
  );
  expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('leads_create');
});

test('a preset opens the form for a key with the name and permissions of an agent', async () => {
  const { page } = await portal.openOwner();
  const checked = () => page.getByRole('dialog').getByRole('checkbox', { checked: true });
  const scopes = ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write'];
  for (const [button, name, granted] of [
    ['Create read-only key', 'Agent, read only', [scopes[0]!, scopes[2]!]],
    ['Create read and write key', 'Agent, read and write', scopes],
  ] as const) {
    await visit(page, 'developers', 'Developers');
    await page.getByRole('button', { name: button }).click();
    await see(page.getByRole('dialog').getByLabel('Name')).toHaveValue(name);
    await see(checked()).toHaveCount(granted.length);
    for (const scope of granted)
      await see(page.getByRole('dialog').getByRole('checkbox', { name: scope })).toBeChecked();
  }
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Copy API key' }).click();
  const key = await clipboard(page);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Copy configuration for Claude Code' }).click();
  expect(await clipboard(page)).toContain(`Authorization: Bearer ${key}`);
});
