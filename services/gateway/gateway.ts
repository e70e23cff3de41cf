import type { KeyTable } from '@causeway/identity';
import type { KeyOperation } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import type { Agents } from './ask-agents.ts';
import type { Bounds } from './bounds.ts';
import type { ExchangeContext, Upstream } from './exchange.ts';
import type { Bodies } from './http/body.ts';
import type { HeldRequests } from './keys/long-poll.ts';
import type { DefaultLimits, Limiter } from './limits/limiter.ts';
import type { Pages } from './pages.ts';
import type { Portal } from './portal/portal.ts';
import type { Sessions } from './portal/sessions.ts';
import type { Routed } from './routes.ts';

export interface Gateway extends ExchangeContext, Upstream {
  readonly bus: Bus;
  readonly table: KeyTable;
  readonly limiter: Limiter;
  readonly sessions: Sessions;
  readonly limits: DefaultLimits;
  readonly route: (method: string, path: string) => Routed<KeyOperation>;
  readonly pages: Pages;
  readonly portal: Portal;
  readonly bodies: Bodies;
  readonly bounds: Bounds;
  readonly agents: Agents;
  readonly held: HeldRequests;
  readonly keyPrefix: string;
  readonly trustedProxies: number;
}
