import type { EventType } from '../index.ts';
import { type DeveloperCommand, UsageError } from './command.ts';

export const trigger: DeveloperCommand = {
  about: 'Create a test event, a real event of the company that goes to all who subscribe to its type',
  usage: 'TYPE [--payload JSON]',
  options: { payload: ['JSON', 'an object; by default the sample of the type'] },
  notes: ['Needs a key with the scope admin.'],
  run: async (causeway, { payload }, [type, ...others], { out, signal }) => {
    if (type === undefined || others.length > 0) throw new UsageError('one event type is required');
    const event = await causeway.events.createTest(
      { type: type as EventType, ...(payload !== undefined && { payload: objectIn(payload) }) },
      { signal },
    );
    const { id, subscriptionCount: count } = event;
    out(`${id}  ${event.type}  to ${count} subscription${count === 1 ? '' : 's'}\n`);
  },
};

const objectIn = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new UsageError('--payload takes a JSON object');
};
