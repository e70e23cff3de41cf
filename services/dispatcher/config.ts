import { commonConfig } from '@causeway/runtime';

/** What the dispatcher reads from its environment. */
export const dispatcherConfig = { ...commonConfig } as const;
