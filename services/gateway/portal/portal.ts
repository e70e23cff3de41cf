import { type MemberOperation, memberOperations, methodNotAllowed, portalBasePath } from '@causeway/proto';
import type { Log } from '@causeway/runtime';
import type { Head } from '../http/head.ts';
import { createRouter, type Routed } from '../routes.ts';
import { type Page, portalFiles } from './files.ts';
import type { PortalHead } from './visit.ts';

export interface Portal {
  readonly route: (method: string, path: string) => Routed<MemberOperation>;
  /** The portal's API always, its pages if they have been built. */
  takes(path: string): boolean;
  /** Undefined for the API. @throws Problem `method_not_allowed` */
  page(head: Head, portalHead: PortalHead): Page | undefined;
}

export const createPortal = ({ log, folder }: PortalOptions): Portal => {
  const files = portalFiles(folder, log);
  return {
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

interface PortalOptions {
  readonly log: Log;
  readonly folder: string | undefined;
}
