import type { KeyTable } from '@causeway/identity';
import type { KeyOperation, ServiceName } from '@causeway/proto';
import type { Bus, createTurns, LaneClient, Log } from '@causeway/runtime';
import type { Agents } from './agents.ts';
import type { Bounds } from './bounds.ts';
import type { Bodies } from './http/body.ts';
import type { HeldRequests } from './keys/held.ts';
import type { DefaultLimits, Limiter } from './limits/limiter.ts';
import type { Pages } from './pages.ts';
import type { Portal } from './portal/portal.ts';
import type { Sessions } from './portal/sessions.ts';
import type { RequestLog } from './request-log.ts';
import type { Routed } from './routes.ts';
import type { Traffic } from './traffic.ts';
import type { UseReports } from './use-reports.ts';

export interface Gateway {
  readonly bus: Bus;
  readonly table: KeyTable;
  readonly limiter: Limiter;
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  readonly uses: UseReports;
  readonly requestLog: RequestLog;
  readonly sessions: Sessions;
  readonly log: Log;
  readonly limits: DefaultLimits;
  readonly route: (method: string, path: string) => Routed<KeyOperation>;
  readonly pages: Pages;
  readonly portal: Portal;
  readonly traffic: Traffic;
  readonly bodies: Bodies;
  readonly bounds: Bounds;
  /** One large body of a company at a time is with a service: a hundred at once would delay everybody. */
  readonly largeBodies: ReturnType<typeof createTurns>;
  readonly agents: Agents;
  readonly held: HeldRequests;
  readonly keyPrefix: string;
  readonly trustedProxies: number;
  draining: boolean;
}
