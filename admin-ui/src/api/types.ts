import type { PortalAnswer, PortalBody, PortalContract, PortalOperationId, QueryOf } from '@causeway/proto';

/** The contract as the browser sees it: types only, so none of its code is in the bundle. */
export type { PortalOperationId };

type Params<Id extends PortalOperationId> = keyof PortalContract[Id]['params'] extends never
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<keyof PortalContract[Id]['params'], string | number>> };

type Value = string | number | boolean | undefined;
type Query<Id extends PortalOperationId> = PortalContract[Id]['query'] extends null
  ? { readonly query?: undefined }
  : { readonly query?: { readonly [Name in keyof QueryOf<PortalContract[Id]>]?: Value } };

type Body<Id extends PortalOperationId> = PortalContract[Id]['body'] extends null
  ? { readonly body?: undefined }
  : { readonly body: PortalBody<Id> };

/** What a call of an operation takes. */
export type Input<Id extends PortalOperationId> = Params<Id> & Query<Id> & Body<Id>;

/** What it answers with; undefined where there is no body. */
export type Answer<Id extends PortalOperationId> = PortalAnswer<Id>;
