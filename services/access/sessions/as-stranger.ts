import { networkOf } from '@causeway/proto';
import { each, type LaneHandler } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** Passes calls of people without a session through the strangers' gate. Sign-in enters its gate itself. */
export const asStranger = ({ gates }: Access, handler: LaneHandler): LaneHandler =>
  each((call) =>
    gates.strangers.run(networkOf(call.actor?.address ?? ''), call.deadlineMs, async () => {
      const [answer] = handler([call]);
      return answer!;
    }),
  );
