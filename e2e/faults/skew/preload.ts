// Loaded into a process before its own modules (`node --import`). Shifts the wall clock by the milliseconds in the first
// eight bytes of `CLOCK_FILE`, at any time. Monotonic time (`performance.now`, timers) is unchanged, as on a machine whose
// clock is set wrong.

import { openSync, readSync } from 'node:fs';

const file = openSync(process.env.CLOCK_FILE ?? '', 'r');
const bytes = Buffer.alloc(8);
const TrueDate = Date;

const now = (): number => {
  readSync(file, bytes, 0, 8, 0);
  return TrueDate.now() + Number(bytes.readBigInt64LE());
};

class OffsetDate extends TrueDate {
  constructor(...given: []) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static override now(): number {
    return now();
  }
}

globalThis.Date = OffsetDate as DateConstructor;
