import { testReceiver } from '@causeway/runtime/testing';
import { expect } from 'vitest';
import { countOf, type World } from './boot.ts';

/** The dispatcher keeps its results while MySQL refuses them with this error, and records them once it does not. */
export const keepsResultsWhileRefused = async (world: World, errno: number): Promise<void> => {
  const receiver = await testReceiver();
  receiver.answer = (response) => void setTimeout(() => response.end(), 300);
  const subscription = await world.subscribe(receiver.url);
  const { metrics } = await world.start();
  const trigger = `\`${world.database.name}\`.refuse`;
  await world.database.query(
    `CREATE TRIGGER ${trigger} BEFORE INSERT ON \`${world.database.name}\`.delivery_attempts
     FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'refused'`,
  );
  await world.deliver(subscription, 4);
  await expect.poll(async () => (await countOf(metrics, 'dispatcher_unrecorded')) > 0).toBe(true);
  await world.database.query(`DROP TRIGGER ${trigger}`);
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 4 });
  expect(receiver.received).toHaveLength(4);
  expect(await countOf(metrics, 'dispatcher_record_refused_total')).toBe(0);
};
