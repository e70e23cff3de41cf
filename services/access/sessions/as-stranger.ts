import { networkOf, siteOf } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** Passes calls of people without a session through the strangers' gate. Sign-in enters its gate itself. */
export const asStranger = ({ gates }: Access, handler: LaneHandler): LaneHandler =>
  each((call) => {
    const address = call.actor?.address ?? '';
    const run = async () => (await handler([call])[0])!;
    return gates.strangers.run(networkOf(address), call.deadlineMs, run, siteOf(address));
  });
