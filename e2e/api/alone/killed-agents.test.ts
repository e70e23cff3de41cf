import { expect, test } from 'vitest';
import { kill } from '../support/kill.ts';
import { metric, processesOf } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

test('agents is killed in the middle of a call: the caller is told, and the next calls are served', async () => {
  const { value: key } = await (await world.company()).key();
  const call = (name: string, given: object = {}) =>
    world.ask('//mcp', {
      method: 'POST',
      key,
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: given },
      }),
    });
  await expect.poll(async () => (await call('changes_list')).status).toBe(200);
  const { result } = (await call('changes_list')).json;
  const { nextCursor: cursor } = result.structuredContent;
  for (let round = 0; round < 3; round++) {
    const under = call('changes_list', { cursor, wait: 20 });
    const waits = async () => {
      const [agents] = processesOf(world, 'agents');
      return agents?.metricsUrl ? (await metric(agents, 'agents_waiting_for_interface')) === 1 : false;
    };
    await expect.poll(waits).toBe(true);
    kill(world, 'agents');
    // It may have been done.
    expect(await under).toMatchObject({ status: 504, json: { reason: 'timeout' } });
    const statuses: number[] = [];
    const next = async () => {
      statuses.push((await call('lookups_employees')).status);
      return statuses.at(-1);
    };
    await expect.poll(next).toBe(200);
    // Nothing was done while nobody listens; unknown on a connection that was open before.
    expect(statuses.filter((status) => ![200, 503, 504].includes(status))).toEqual([]);
  }
});
