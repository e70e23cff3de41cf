import type { Subscription } from './state.ts';

export function RepairDialog(_: {
  readonly open: boolean;
  readonly subscription: Subscription;
  readonly onClose: () => void;
}) {
  return null;
}
