import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type IndexHtmlTransformContext, type Plugin } from 'vite';
import { memberOperations } from '../proto/operations.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * Gives the browser of the contract what it needs at run time, each operation's method and path, and keeps
 * the schemas and their library out of the bundle.
 */
const operationTable = (): Plugin => {
  const name = 'virtual:portal-operations';
  const table = Object.fromEntries(memberOperations.map((o) => [o.id, [o.method, o.path]]));
  return {
    name: 'portal-operations',
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? `export default ${JSON.stringify(table)};` : undefined),
  };
};

/** The chunks that a chunk imports, itself included. */
const importsOf = (bundle: Bundle, file: string, seen = new Set<string>()): Set<string> => {
  const chunk = bundle[file];
  if (seen.has(file) || chunk?.type !== 'chunk') return seen;
  seen.add(file);
  for (const imported of chunk.imports) importsOf(bundle, imported, seen);
  return seen;
};
type Bundle = NonNullable<IndexHtmlTransformContext['bundle']>;

/**
 * Names the files of the frame and of the overview in the page, so that `theme-init.js` can ask for them before the
 * files that import them have run.
 */
const filesAhead = (): Plugin => ({
  name: 'files-ahead',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle }) => {
      if (!bundle) return [];
      const fileOf = (name: string): string =>
        Object.values(bundle).find((one) => one.type === 'chunk' && one.name === name)?.fileName ?? name;
      const entry = importsOf(bundle, fileOf('index'));
      const shell = importsOf(bundle, fileOf('shell')).difference(entry);
      const overview = importsOf(bundle, fileOf('overview-page')).difference(entry).difference(shell);
      return Object.entries({ shell, overview }).map(([name, files]) => ({
        tag: 'meta',
        attrs: { name: `ahead-${name}`, content: [...files].map((file) => `/portal/${file}`).join(' ') },
        injectTo: 'head-prepend' as const,
      }));
    },
  },
});

/**
 * Few large files compress better than many small ones: `base` is what the sign-in page needs, `frame` what every
 * signed-in page needs besides, and `overlays` what opens above pages, which the first page does not wait for.
 */
const groups = [
  {
    name: 'base',
    test: /node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack|clsx|lucide-react\/dist\/esm\/(?!icons))|admin-ui\/src\/(?:errors\.ts|api\/|app\/(?:app|public-frame|routes|session)\.|ui\/(?:button|form|lazy-part|notice|failed|after-paint)\.)/,
    priority: 2,
  },
  {
    name: 'frame',
    test: /lucide-react\/dist\/esm\/icons\/check\.|admin-ui\/src\/(?:app\/(?:shell\/(?!shell\.tsx|command|shortcuts|menus)|(?!not-found|new-password|factor-field|switch-company)[^/]+$)|ui\/(?:toast\.ts|badge|card|page|layout|format|time-ago)\b)/,
    priority: 1,
  },
  {
    name: 'overlays',
    test: /node_modules\/(?:@base-ui\/(?!react\/(?:csp-provider|internals\/csp-context))|@floating-ui)|admin-ui\/src\/(?:app\/(?:shell\/menus|switch-company|factor-field)|ui\/(?:menu|dialog|toaster)\b)/,
    priority: 0,
  },
];

/** Where `vite` (development) finds a running gateway. */
const gateway = 'http://127.0.0.1:8080';

export default defineConfig({
  root,
  base: '/portal/',
  publicDir: 'static',
  plugins: [react(), operationTable(), filesAhead()],
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
    rolldownOptions: { output: { codeSplitting: { groups } } },
    chunkSizeWarningLimit: 600,
  },
});
