import { networkOf } from '@causeway/proto';
import { each, type Handler } from '@causeway/runtime';
import type { Access } from '../context.ts';

/** Lets calls of people without a session in by the strangers' gate. Signing in asks for its place by itself. */
export const asStranger = ({ gates }: Access, handler: Handler): Handler =>
  each((call) =>
    gates.strangers.run(networkOf(call.actor?.address ?? ''), call.deadlineMs, async () => {
      const [answer] = handler([call]);
      return answer!;
    }),
  );
