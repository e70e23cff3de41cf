import { perCountFor } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

export const perCount = perCountFor<Tables>();
