import {
  type MemberOperation,
  memberOperations,
  portalBasePath,
  problem,
  type ResolvedSession,
  type ResolveSession,
  resolveSessionOperation,
  type ServiceName,
} from '@causeway/proto';
import type { Bus, LaneClient, Log, Metrics, Tracer } from '@causeway/runtime';
import type { Bodies } from '../http/body.ts';
import { createRouter, type Routed } from '../routes.ts';
import type { Traffic } from '../traffic.ts';
import { type Bounds, createBounds } from './bounds.ts';
import { type PortalFiles, portalFiles } from './files.ts';
import type { MemberLimit } from './member-limit.ts';
import { createTails, type TailLimits, type Tails } from './tails.ts';

/** What a request of the portal meets on its way through the gateway. */
export interface Portal extends MemberLimit {
  readonly log: Log;
  readonly tracer: Tracer | undefined;
  readonly traffic: Traffic;
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  readonly bodies: Bodies;
  readonly trustedProxies: number;
  readonly files: PortalFiles;
  readonly bounds: Bounds;
  readonly tails: Tails;
  readonly draining: () => boolean;
  readonly route: (method: string, path: string) => Routed<MemberOperation>;
  /** Whether a path is the portal's: its API always, its pages where they have been built. */
  takes(path: string): boolean;
  /**
   * Whose session a token is, asked of `access` for each request: then no gateway can be behind, and sessions
   * are too few for it to matter. @returns null where it is nobody's. @throws LaneError
   */
  resolve(token: string, trace: Trace, passive: boolean): Promise<ResolvedSession | null>;
}

interface Trace {
  readonly requestId: string;
  readonly traceparent: string;
}

export const createPortal = (options: PortalOptions): Portal => {
  const { bus, log, metrics, lanes } = options;
  const files = portalFiles(options.folder, log);
  return {
    ...options,
    files,
    bounds: createBounds(),
    tails: createTails({ bus, metrics, limits: options.tailLimits }),
    route: createRouter<MemberOperation>(memberOperations, portalBasePath),
    takes: (path) =>
      path.startsWith(`${portalBasePath}/`) ||
      ((path === '/portal' || path.startsWith('/portal/')) && files.present()),
    resolve: async (token, { requestId, traceparent }, passive) => {
      const asked: ResolveSession = { token, passive };
      const answer = await lanes.access.request({
        operation: resolveSessionOperation,
        tenant: 0,
        caller: 0,
        requestId,
        traceparent,
        budgetMs: resolveBudgetMs,
        params: [],
        query: '',
        body: Buffer.from(JSON.stringify(asked)),
      });
      if (answer.status === 200) return JSON.parse(answer.body.toString()) as ResolvedSession;
      if (answer.status === 401) return null;
      throw problem(
        answer.status === 504 ? 'timeout' : answer.status === 503 ? 'service_unavailable' : 'internal_error',
      );
    },
  };
};

const resolveBudgetMs = 5000;

export interface PortalOptions extends MemberLimit {
  readonly bodies: Bodies;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer | undefined;
  readonly traffic: Traffic;
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  readonly trustedProxies: number;
  readonly tailLimits: TailLimits;
  /** Where the built portal lies. */
  readonly folder: string | undefined;
  readonly draining: () => boolean;
}
