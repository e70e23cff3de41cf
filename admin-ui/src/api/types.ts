import type { AnswerTo, BodyFor, Contract, MemberOperationId, QueryOf } from '@causeway/proto';

/** The contract as the browser sees it: types only, so none of its code is in the bundle. */
export type { MemberOperationId };

type Params<Id extends MemberOperationId> =
  ParamsOf<Contract[Id]['path']> extends never
    ? { readonly params?: undefined }
    : { readonly params: Readonly<Record<ParamsOf<Contract[Id]['path']>, string | number>> };

/** The names of the parameters in a path. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

type Value = string | number | boolean | undefined;
type Query<Id extends MemberOperationId> = Contract[Id]['query'] extends null
  ? { readonly query?: undefined }
  : { readonly query?: { readonly [Name in keyof QueryOf<Contract[Id]>]?: Value } };

type Body<Id extends MemberOperationId> = Contract[Id]['body'] extends null
  ? { readonly body?: undefined }
  : { readonly body: BodyFor<Id> };

/** The input of an operation. */
export type Input<Id extends MemberOperationId> = Params<Id> & Query<Id> & Body<Id>;

/** The answer of an operation; undefined if it has no body. */
export type Answer<Id extends MemberOperationId> = AnswerTo<Id>;
