import { signal } from '../../api/support/processes.ts';
import type { Fault } from '../fault.ts';
import { canSetMysql } from '../skew/clocks.ts';

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

const services = ['access-1', 'crm-1', 'crm-2', 'webhooks-1', 'webhooks-2', 'gateway-1', 'gateway-2'];
const dispatchers = ['dispatcher-1', 'dispatcher-2', 'dispatcher-3'];

/** Stays wrong until everything has been delivered. */
const stepBack = (what: string, names: readonly string[]): Fault => ({
  name: `clock of ${what} steps back by an hour`,
  act: async ({ clocks }) => {
    for (const name of names) clocks.set(name, -3_600_000);
    return undefined;
  },
  lastsMs: 15_000,
  restore: async ({ clocks }) => {
    for (const name of names) clocks.set(name, 0);
  },
});

/** A clock that is wrong by more than a window and more than a lease. */
const wrong: readonly Fault[] = ([1, -1] as const).flatMap((sign) => [
  skewCounter(sign),
  skew('crm-1', sign),
  skew('webhooks-1', sign),
  skew('dispatcher-1', sign),
]);

export const clocks: readonly Fault[] = [
  ...wrong,
  ...(canSetMysql ? [stepBack('mysql', ['mysql'])] : []),
  stepBack('every service', [...services, ...dispatchers]),
];
