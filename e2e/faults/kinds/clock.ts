import { signal } from '../../api/support/processes.ts';
import type { Fault } from '../fault.ts';

const offsetMs = 90_000;

const skew = (name: string, sign: 1 | -1, more: Partial<Fault> = {}): Fault => ({
  name: `clock of ${name} ${sign > 0 ? 'ahead' : 'behind'} by 90 s`,
  prepare: async ({ clocks, restart }) => {
    clocks.set(name, sign * offsetMs);
    await restart(name);
  },
  act: async () => undefined,
  lastsMs: 40_000,
  restore: async ({ clocks, restart }) => {
    clocks.set(name, 0);
    await restart(name);
  },
  ...more,
});

/** Gives the process that counts requests a wrong clock. */
const skewCounter = (sign: 1 | -1): Fault =>
  skew('gateway-1', sign, {
    act: async ({ world }) => void signal(world, 'gateway-2', 'SIGKILL'),
    edge: true,
  });

/** A clock that is wrong by more than a window and more than a lease. */
export const clocks: readonly Fault[] = ([1, -1] as const).flatMap((sign) => [
  skewCounter(sign),
  skew('crm-1', sign),
  skew('webhooks-1', sign),
  skew('dispatcher-1', sign),
]);
