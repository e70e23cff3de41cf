import { commonConfig } from '@causeway/runtime';

/** What the webhooks service reads from its environment. */
export const webhooksConfig = { ...commonConfig } as const;
