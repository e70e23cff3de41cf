import type { KeyOperation } from '@causeway/proto';
import type { Log, Tracer } from '@causeway/runtime';
import type { Cells } from './cells/cells.ts';
import type { Bodies } from './http/body.ts';
import type { DefaultLimits } from './limits/policy.ts';
import type { Pages } from './pages.ts';
import type { Portal } from './portal/portal.ts';
import type { Routed } from './routes.ts';
import type { Traffic } from './traffic.ts';

/** The dependencies of the request handlers. */
export interface Gateway {
  readonly cells: Cells;
  readonly log: Log;
  readonly limits: DefaultLimits;
  readonly route: (method: string, path: string) => Routed<KeyOperation>;
  readonly pages: Pages;
  readonly portal: Portal;
  readonly traffic: Traffic;
  readonly bodies: Bodies;
  readonly tracer: Tracer | undefined;
  readonly keyPrefix: string;
  readonly trustedProxies: number;
  /** If true, every answer closes its connection. */
  draining: boolean;
}
