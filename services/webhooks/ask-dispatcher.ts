import { type DeliveryCommand, deliveryCommandSubject } from '@causeway/proto';
import type { WebhooksContext } from './context.ts';

/**
 * Asks a dispatcher to begin a committed command now. Resolves when its first step is committed, or when that cannot
 * be learned in time: the dispatchers find the command's row by themselves.
 */
export const askDispatcher = async (
  { bus, log }: Pick<WebhooksContext, 'bus' | 'log'>,
  command: DeliveryCommand,
): Promise<void> => {
  if (!bus.connected()) return;
  try {
    await bus.nc.request(deliveryCommandSubject, JSON.stringify(command), { timeout: timeoutMs });
  } catch (error) {
    log.debug({ error, ...command }, 'no dispatcher began the command; it waits for one to look');
  }
};

const timeoutMs = 2_000;
