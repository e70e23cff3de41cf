import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { takesIdempotencyKey } from '../proto/operation.ts';
import { memberOperations } from '../proto/operations.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Operations' methods and paths, and whether they take an `Idempotency-Key`: keeps the schemas and their library out of the bundle. */
const operationTable = (): Plugin => {
  const name = 'virtual:portal-operations';
  const table = Object.fromEntries(
    memberOperations.map((o) => [o.id, [o.method, o.path, ...(takesIdempotencyKey(o) ? [1] : [])]]),
  );
  return {
    name: 'portal-operations',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? `export default ${JSON.stringify(table)};` : undefined),
  };
};

/**
 * Lets Chromium compile the functions of the entry and the pages while they load: compiling each at its first call, on the main thread, takes
 * longer than running it. The hint counts in the first line only.
 */
const compileAhead = (): Plugin => ({
  name: 'compile-ahead',
  generateBundle: {
    order: 'post',
    handler: (_, bundle) => {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && (chunk.isEntry || chunk.name.endsWith('-page')))
          chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`;
    },
  },
});

/**
 * Lets the browser load the code of the page, and ask for what the page shows, before the entry has run. A page's module is
 * named after its path: `/deliveries` is `deliveries-page`, one of them `delivery-page`, `/` is `overview-page`. Another path, or one with
 * filters, asks a little later.
 */
const pageAhead = (): Plugin => {
  const file = 'page-ahead.js';
  return {
    name: 'page-ahead',
    apply: 'build',
    // Before the style sheets, for which a script after them waits.
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `${base}${file}` }, injectTo: 'head-prepend' }],
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const filesOf = (chunk: (typeof chunks)[number]): string[] => [
          chunk.fileName,
          ...chunk.imports.flatMap((name) => {
            const imported = chunks.find(({ fileName }) => fileName === name);
            return imported && !imported.isEntry ? filesOf(imported) : [];
          }),
        ];
        const files = chunks
          .filter(({ name, isDynamicEntry }) => isDynamicEntry && name.endsWith('-page'))
          .map((chunk) => [chunk.name.slice(0, -5), [...new Set(filesOf(chunk))]]);
        this.emitFile({
          type: 'asset',
          fileName: file,
          source: [
            `const base = '${base}';`,
            `const files = ${JSON.stringify(Object.fromEntries(files))};`,
            `const calls = ${JSON.stringify(callsAhead)};`,
            readFileSync(new URL('scripts/page-ahead.js', import.meta.url), 'utf8'),
          ].join('\n'),
        });
      },
    },
  };
};

/**
 * What pages without filters ask for first, as their loaders do (`routes.ts`), beside what the sidebar of every page does. A test
 * holds that nothing is asked for twice.
 */
const callsAhead: Readonly<Record<string, readonly string[]>> = {
  overview: [
    'first-steps',
    'first-steps/deliveries',
    'usage?range=24h',
    'deliveries/stats?range=24h',
    'deliveries/counts',
    'deliveries/counts?since={24h}',
    'incidents?state=open',
    'subscriptions',
  ],
  subscriptions: ['subscriptions'],
  developers: ['subscriptions', 'keys?state=active&limit=200'],
  usage: [],
  company: ['team', 'subscription-settings', 'notices/channels'],
  audit: ['audit?signIns=hidden', 'team', 'audit?action=member.removed&limit=100'],
  subscription: ['subscriptions/{id}', 'deliveries?subscriptionId={id}&limit=8'],
  deliveries: ['deliveries?limit=50', 'deliveries/counts', 'subscriptions', 'event-types'],
  events: ['events', 'event-types'],
  event: ['events/{id}', 'event-types'],
  keys: ['keys?limit=25&state=active'],
  key: [],
  record: [],
  team: ['team'],
  notifications: ['notices?limit=25'],
  security: ['profile/sessions', 'profile/passkeys'],
};

const base = '/portal/';

/** Where `vite` (development) finds a running gateway. */
const gateway = 'http://127.0.0.1:8080';

export default defineConfig({
  root,
  base,
  publicDir: 'static',
  plugins: [react(), operationTable(), compileAhead(), pageAhead()],
  server: { proxy: { '/portal/api': gateway, '/api': gateway } },
  css: { modules: { generateScopedName: '[hash:base64:6]' } },
  build: {
    outDir: 'dist',
    manifest: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // Data URLs would need `data:` in the policy for fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One sheet weighs less than its parts, and nothing is ever unstyled for a moment.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // One file of what many pages share: a browser asks for six files at once over HTTP/1.1.
          groups: [
            { name: 'entry', tags: ['$initial'] },
            { name: 'shared', minShareCount: 5 },
          ],
        },
      },
    },
  },
});
