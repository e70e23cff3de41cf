import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitStream } from '@causeway/proto';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { terminalReport } from '../../deploy/local/report.ts';
import { noteArrivals } from './arrivals.ts';
import { killLeader } from './kinds/kill.ts';
import { runFault } from './run.ts';
import { openScene } from './scene.ts';

const home = mkdtempSync(join(tmpdir(), 'causeway-faults-test-'));
cleanUp(async () => rmSync(home, { recursive: true, force: true }));
const scene = await openScene({ home, env: readEnv(), report: terminalReport, onEnd: cleanUp });
const arrivals = await noteArrivals();
cleanUp(() => arrivals.close());

test('when the leader of three NATS servers is killed under load, nothing is lost and no limit exceeded', {
  timeout: 120_000,
}, async () => {
  const result = await runFault(scene, arrivals, arrivals.url, killLeader(limitStream), {
    createsPerSecond: 20,
    say: () => {},
  });
  expect(result.complaints).toEqual([]);
  // Checks that there was something to lose.
  expect(result.deliveries).toBeGreaterThan(50);
  expect(result.detail).toMatch(/^nats-\d$/);
});
