import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../errors.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

interface Content {
  readonly 'application/json'?: { readonly schema?: Schema; readonly example?: unknown };
}

export interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Document {
  readonly info: { readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
}

export interface Listed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const documentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }): Promise<Document> => {
    const response = await fetch('/api/v1/openapi.json', { signal });
    if (!response.ok)
      throw new ApiError({ status: response.status, message: 'the document could not be loaded' });
    return (await response.json()) as Document;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export const operationsOf = (document: Document): readonly Listed[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => typeof operation === 'object' && 'operationId' in operation)
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** Keywords beside the reference take precedence. */
export const resolve = <T extends { readonly $ref?: string }>(document: Document, value: T): T => {
  const { $ref, ...beside } = value;
  if ($ref === undefined) return value;
  const found = $ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document);
  return found ? { ...(found as T), ...beside } : value;
};
