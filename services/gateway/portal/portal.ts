import { type MemberOperation, memberOperations, methodNotAllowed, portalBasePath } from '@causeway/proto';
import type { Log } from '@causeway/runtime';
import type { Head } from '../http/head.ts';
import type { Page } from '../pages.ts';
import { createRouter, type Routed } from '../routes.ts';
import { type Bounds, createBounds } from './bounds.ts';
import { portalFiles } from './files.ts';
import type { PortalHead } from './head.ts';

/** The dependencies of the portal's requests, in addition to the gateway's. */
export interface Portal {
  readonly bounds: Bounds;
  readonly route: (method: string, path: string) => Routed<MemberOperation>;
  /** Whether a path belongs to the portal: its API always, its pages if they have been built. */
  takes(path: string): boolean;
  /** A page or a file of a page; undefined for the API. @throws Problem `method_not_allowed` */
  page(head: Head, portalHead: PortalHead): Page | undefined;
}

export const createPortal = ({ log, folder }: PortalOptions): Portal => {
  const files = portalFiles(folder, log);
  return {
    bounds: createBounds(),
    route: createRouter<MemberOperation>(memberOperations, portalBasePath),
    takes: (path) =>
      path.startsWith(apiPrefix) || ((path === '/portal' || path.startsWith('/portal/')) && files.present()),
    page: ({ method, path }, portalHead) => {
      if (path.startsWith(apiPrefix)) return undefined;
      if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
      return files.answer(path.slice('/portal'.length), portalHead);
    },
  };
};

const apiPrefix = `${portalBasePath}/`;

export interface PortalOptions {
  readonly log: Log;
  /** The folder of the built portal. */
  readonly folder: string | undefined;
}
