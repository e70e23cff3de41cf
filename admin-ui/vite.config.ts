import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { memberOperations } from '../proto/operations.ts';
import { messages } from './scripts/messages.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Operations' methods and paths only: keeps the schemas and their library out of the bundle. */
const operationTable = (): Plugin => {
  const name = 'virtual:portal-operations';
  const table = Object.fromEntries(memberOperations.map((o) => [o.id, [o.method, o.path]]));
  return {
    name: 'portal-operations',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? `export default ${JSON.stringify(table)};` : undefined),
  };
};

/**
 * Lets Chromium compile the entry's functions while it loads: compiling each at its first call, on the main thread, takes
 * longer than running it. The hint counts in the first line only.
 */
const compileAhead = (): Plugin => ({
  name: 'compile-ahead',
  generateBundle: {
    order: 'post',
    handler: (_, bundle) => {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && chunk.isEntry)
          chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`;
    },
  },
});

/** Where `vite` (development) finds a running gateway. */
const gateway = 'http://127.0.0.1:8080';

export default defineConfig({
  root,
  base: '/portal/',
  publicDir: 'static',
  plugins: [messages, react(), operationTable(), compileAhead()],
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
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'entry', tags: ['$initial'] }] } } },
  },
});
