import type { Handler, LaneHandler } from '@causeway/runtime';
import type { Access } from './context.ts';
import { logCalls } from './operator-log.ts';
import { asStranger } from './sessions/as-stranger.ts';
import { byToken } from './sessions/by-token.ts';

/** Wraps a handler in the checks for its audience. */
export const guardOf =
  (access: Access) =>
  ({ operation, answer }: Handler): LaneHandler => {
    if (operation.audience === 'operator') return logCalls(access, answer);
    if (operation.audience === 'key') throw new Error(`${operation.id}: this service answers no API keys`);
    if (operation.role !== null) return byToken(access, answer);
    // Sign-in enters its gate itself.
    return operation.id === 'signIn' ? answer : asStranger(access, answer);
  };
