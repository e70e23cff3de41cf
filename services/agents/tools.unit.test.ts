import { expect, test } from 'vitest';
import { createAgentTools } from './tools.ts';

const tools = [...createAgentTools().values()];

const published = `
affiliates_batch: overwrites
affiliates_create: overwrites
affiliates_get: reads
affiliates_list: reads
affiliates_update: overwrites, again without effect
changes_list: reads
clients_batch: overwrites
clients_create: overwrites
clients_find: reads
clients_get: reads
clients_update: overwrites, again without effect
clients_update_status: overwrites
events_create_test: adds, reaches outside
events_get: reads
events_list: reads
events_samples: reads
incidents_get: reads
incidents_list: reads
leads_batch: overwrites
leads_create: overwrites
leads_find: reads
leads_get: reads
leads_update: overwrites, again without effect
leads_update_status: overwrites
lookups_affiliates: reads
lookups_client_statuses: reads
lookups_clients: reads
lookups_employees: reads
notes_batch: overwrites
notes_create: overwrites
notes_list: reads
people_erase: overwrites, again without effect
people_get: reads
people_list: reads
people_update: overwrites
people_update_by_external_id: overwrites
replays_create: adds, reaches outside
replays_get: reads
subscriptions_create: adds, reaches outside
subscriptions_delete: overwrites, again without effect
subscriptions_discard_held: overwrites, again without effect
subscriptions_get: reads
subscriptions_list: reads
subscriptions_list_deliveries: reads
subscriptions_list_missing: reads
subscriptions_release_held: adds, again without effect, reaches outside
subscriptions_rotate_secret: overwrites
subscriptions_test: adds, reaches outside
subscriptions_update: overwrites, reaches outside`;

test('names are permanent, and hints say what the operations do', () => {
  const said = tools.map(({ listed: { name, annotations } }) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
    const facts = [
      readOnlyHint ? 'reads' : destructiveHint ? 'overwrites' : 'adds',
      ...(idempotentHint && !readOnlyHint ? ['again without effect'] : []),
      ...(openWorldHint ? ['reaches outside'] : []),
    ];
    return `${name}: ${facts.join(', ')}`;
  });
  // A tool may be added. A name that was published is in agents' prompts and settings.
  expect(said).toEqual(published.trim().split('\n'));
});

test('each argument is described, and schemas stand on their own', () => {
  for (const { listed } of tools) {
    for (const [name, argument] of Object.entries(listed.inputSchema.properties ?? {}))
      expect(argument, `${listed.name} ${name}`).toMatchObject({ description: expect.stringMatching(/\w/) });
    expect(listed.outputSchema.type).toBe('object');
    expect(JSON.stringify(listed)).not.toMatch(/\$ref|"discriminator"|"int64"|"readOnly"|"x-/);
    expect(listed.name).toMatch(/^[a-z_]{1,40}$/);
    // Some clients refuse all tools for one type that is a list, or one argument that may be null.
    expect(JSON.stringify(listed)).not.toContain('"type":[');
    expect(JSON.stringify(listed.inputSchema)).not.toContain('"null"');
  }
});

test('every write takes a key that makes a retry harmless, unless a retry is harmless anyway', () => {
  const without = tools
    .filter(({ operation }) => operation.method !== 'GET')
    .filter(({ listed }) => !Object.hasOwn(listed.inputSchema.properties ?? {}, 'idempotency_key'))
    .map(({ operation }) => operation.method);
  expect(without.filter((method) => method !== 'PATCH' && method !== 'DELETE')).toEqual([]);
});
