import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventStream } from '@causeway/proto';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { terminalReport } from '../../deploy/local/report.ts';
import { scratch } from '../runner/servers.ts';
import { noteArrivals } from './arrivals.ts';
import { kills } from './kinds/kill.ts';
import { runFault } from './run.ts';
import { openScene } from './scene.ts';

const home = mkdtempSync(join(scratch(), 'causeway-faults-test-'));
cleanUp(async () => rmSync(home, { recursive: true, force: true }));
const scene = await openScene({ home, env: readEnv(), report: terminalReport, onEnd: cleanUp });
const arrivals = await noteArrivals();
cleanUp(() => arrivals.close());

// The one fault that needs several servers: e2e/api/alone kills services, and `npm run faults` kills every process.
test.each(kills.filter(({ name }) => name === `kill leader of ${eventStream}`))(
  '$name under load: nothing is lost, no limit exceeded',
  { timeout: 300_000 },
  // The bounds are for a quiet machine: `npm run faults` and `npm run test:nightly` hold them.
  async (fault) => {
    const result = await runFault(scene, arrivals, arrivals.url, fault, {
      createsPerSecond: 20,
      isBusy: true,
      say: () => {},
    });
    expect(result.complaints.join('; ')).toBe('');
    // Checks that there was something to lose.
    expect(result.deliveries).toBeGreaterThan(50);
  },
);
