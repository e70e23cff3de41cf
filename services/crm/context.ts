import type { Database } from '@causeway/runtime';
import type { Tables } from './tables.ts';

/** What the handlers of this service work with. */
export interface CrmContext {
  readonly db: Database<Tables>;
}
