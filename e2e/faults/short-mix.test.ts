import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventStream } from '@causeway/proto';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { terminalReport } from '../../deploy/local/report.ts';
import { scratch } from '../runner/servers.ts';
import { commits } from './kinds/commit.ts';
import { kills } from './kinds/kill.ts';
import { openReceiver } from './receiver.ts';
import { runFault } from './run.ts';
import { openScene } from './scene.ts';

const home = mkdtempSync(join(scratch(), 'causeway-faults-test-'));
cleanUp(async () => rmSync(home, { recursive: true, force: true }));
const scene = await openScene({ home, env: readEnv(), report: terminalReport, onEnd: cleanUp });
const receiver = await openReceiver();
cleanUp(() => receiver.close());

// A short mix: `npm run faults` runs every fault, and e2e/api/alone kills services.
const mix = [
  ...kills.filter(({ name }) => name === `kill leader of ${eventStream}`),
  ...commits.filter(({ name }) => name.startsWith('lost')),
];

test.each(mix)(
  '$name under load: every promise of the contract is kept',
  { timeout: 600_000 },
  // The bounds are for a quiet machine: `npm run faults` and `npm run test:nightly` hold them.
  async (fault) => {
    const result = await runFault(scene, receiver, receiver.url, fault, {
      createsPerSecond: 15,
      isBusy: true,
      say: () => {},
    });
    expect(result.complaints.join('\n')).toBe('');
    // Checks that there was something to lose.
    expect(result.deliveries).toBeGreaterThan(50);
  },
);
