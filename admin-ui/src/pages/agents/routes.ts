import { createRoute } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { lazyPage } from '../../model/lazy-page.ts';
import { agentPrograms } from '../../model/queries.ts';
import { pageLink, shellRoute } from '../../model/routes.ts';
import { oneOf, searchOf } from '../../model/search.ts';

export const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  staticData: pageLink('Integrate', 'Agents', Bot, 'viewer', 'mcp ai assistant tools claude cursor'),
  validateSearch: searchOf({
    program: oneOf(agentPrograms),
    dialog: oneOf(['agent-read', 'agent-write']),
  }),
  component: lazyPage(() => import('./agents-page.tsx'), 'AgentsPage'),
});
