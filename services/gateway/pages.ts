import { basePath } from '@causeway/proto';
import { openApiDocument } from '@causeway/proto/openapi';

/** What the gateway answers by itself, without a key. */
export interface Page {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: readonly (readonly [string, string])[];
}

export interface Pages {
  find(method: string, path: string): Page | undefined;
  isPage(path: string): boolean;
}

/** The contract itself is public: `GET /api/v1/openapi.json`. */
export const createPages = (): Pages => {
  const pages = new Map<string, Page>([
    [
      `${basePath}/openapi.json`,
      {
        status: 200,
        body: Buffer.from(JSON.stringify(openApiDocument())),
        headers: [
          ['Content-Type', 'application/json'],
          ['Cache-Control', 'public, max-age=300'],
          ['X-Content-Type-Options', 'nosniff'],
        ],
      },
    ],
  ]);
  return {
    find: (method, path) => (method === 'GET' || method === 'HEAD' ? pages.get(path) : undefined),
    isPage: (path) => pages.has(path),
  };
};
