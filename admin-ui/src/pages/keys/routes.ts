import { createRoute } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { lazyPage, load } from '../../model/lazy-page.ts';
import {
  keyPresetNames,
  keyQuery,
  keyRequestsQuery,
  keySorts,
  keysPageQuery,
  keyUseQuery,
  ranges,
  usageQuery,
} from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { anyNumber, anyText, anyWord, oneOf, pathIds, searchOf } from '../../model/search.ts';

const keySearch = searchOf({
  dialog: oneOf(['edit', 'rotate', 'revoke']),
  range: oneOf(ranges),
  status: (value) => oneOf(['2', '4', '5'])(anyWord(value)),
  cursor: anyText,
});

const keysSearch = searchOf({
  show: oneOf(['revoked']),
  q: anyText,
  sort: oneOf(keySorts),
  cursor: anyText,
  dialog: oneOf(['create']),
  preset: oneOf(keyPresetNames),
  revoke: anyNumber,
});

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  staticData: pageLink('Integrate', 'API keys', KeyRound, 'viewer', 'tokens secrets scopes rotate revoke'),
  validateSearch: keysSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ deps }) => load(keysPageQuery(deps)),
  component: lazyPage(() => import('./keys-page.tsx'), 'KeysPage'),
});

export const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/$id',
  params: pathIds('id'),
  validateSearch: keySearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, params: { id }, deps: { range = '30d', status, cursor } }) =>
    load(
      keyQuery(id),
      usageQuery(range, id),
      context.may('developer') && keyUseQuery(id),
      context.may('developer') && keyRequestsQuery({ id, status, cursor }),
    ),
  component: lazyPage(() => import('./key-page.tsx'), 'KeyPage'),
});
