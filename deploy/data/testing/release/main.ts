import { registerHooks } from 'node:module';

// Replaces crm's rows.ts with the rows.ts of this folder.

const replaced = new URL('../../../../services/crm/store/rows.ts', import.meta.url).href;
const replacement = new URL('rows.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const itself = context.parentURL === replacement;
    return resolved.url === replaced && !itself ? { ...resolved, url: replacement } : resolved;
  },
});
