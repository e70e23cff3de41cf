// Loaded into a process before its own modules (`node --import`). Shifts the wall clock by `CLOCK_OFFSET_MS`.
// Monotonic time (`performance.now`, timers) is unchanged, as on a machine whose clock is set wrong.

const offsetMs = Number(process.env.CLOCK_OFFSET_MS ?? 0);
const TrueDate = Date;

class OffsetDate extends TrueDate {
  constructor(...given: []) {
    if (given.length === 0) super(TrueDate.now() + offsetMs);
    else super(...given);
  }

  static override now(): number {
    return TrueDate.now() + offsetMs;
  }
}

if (offsetMs !== 0) globalThis.Date = OffsetDate as DateConstructor;
