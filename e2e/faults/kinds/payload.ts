import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf, signal } from '../../api/support/processes.ts';
import type { Fault, Scene } from '../fault.ts';

const stock = 1_048_576;

const setPayload = ({ world }: Scene, change: (config: string) => string): void => {
  for (const [at, { name }] of processesOf(world, 'nats').entries()) {
    const file = join(world.home, 'nats', String(at + 1), 'nats.conf');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    signal(world, name, 'SIGHUP');
  }
};

/** NATS servers reload their stock bound on messages, below that of deploy/nats, under running services. */
const reload = (): Fault => {
  let own = '';
  return {
    name: 'NATS max_payload of 1 MiB',
    act: async (scene) => {
      setPayload(scene, (config) => {
        own = /"max_payload": \d+/.exec(config)![0];
        return config.replace(own, `"max_payload": ${stock}`);
      });
      return undefined;
    },
    lastsMs: 15_000,
    heal: async (scene) => setPayload(scene, (config) => config.replace(`"max_payload": ${stock}`, own)),
  };
};

export const payloads: readonly Fault[] = [reload()];
