import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basePath } from '@causeway/proto';
import { openApiDocument } from '@causeway/proto/openapi';

/** The pages that the gateway answers itself, without a key. */
export interface Page {
  readonly status: number;
  readonly body: Buffer | string | null;
  readonly headers: readonly (readonly [string, string])[];
}

export interface Pages {
  find(method: string, path: string): Page | undefined;
  isPage(path: string): boolean;
}

const openApiPath = `${basePath}/openapi.json`;

/** The public contract, and a welcome page with links for a person who opens the address in a browser. */
export const createPages = (): Pages => {
  const contract: Page = {
    status: 200,
    body: Buffer.from(JSON.stringify(openApiDocument())),
    headers: [['Content-Type', 'application/json'], ['Cache-Control', 'public, max-age=300'], noSniff],
  };
  const welcome = welcomePage();
  const pages = new Map([
    [openApiPath, contract],
    ['/', welcome],
    ['/portal', welcome],
  ]);
  return {
    find: (method, path) => (method === 'GET' || method === 'HEAD' ? pages.get(path) : undefined),
    isPage: (path) => pages.has(path),
  };
};

const noSniff = ['X-Content-Type-Options', 'nosniff'] as const;

const welcomePage = (): Page => {
  const body = readFileSync(new URL('../../admin-ui/public/index.html', import.meta.url));
  // The page's only style sheet is inline; it may load and run nothing else.
  const style = /<style>([\s\S]*?)<\/style>/.exec(body.toString())?.[1] ?? '';
  const styleHash = createHash('sha256').update(style).digest('base64');
  return {
    status: 200,
    body,
    headers: [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Cache-Control', 'no-cache'],
      [
        'Content-Security-Policy',
        `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      ],
      noSniff,
      ['Referrer-Policy', 'no-referrer'],
    ],
  };
};
