import { defineConfig } from '@lingui/cli';
import { formatter } from '@lingui/format-po';

export default defineConfig({
  sourceLocale: 'en',
  locales: ['en', 'de'],
  catalogs: [{ path: '<rootDir>/src/i18n/{locale}', include: ['<rootDir>/src'] }],
  // Without origins and numbers of lines, a catalog changes only when a text changes.
  format: formatter({ origins: false }),
  orderBy: 'message',
  runtimeConfigModule: { i18n: ['#i18n', 'i18n'], Trans: ['#i18n', 'Trans'] },
});
