import { createRoute } from '@tanstack/react-router';
import { anyNumber, anyText, lazyPage, oneOf, pathIds, searchOf, shellRoute } from '../../app/routes.tsx';

export const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  validateSearch: searchOf({
    subscription: anyNumber,
    event: anyNumber,
    replay: anyNumber,
    type: anyText,
    state: anyText,
    status: anyNumber,
    cause: anyText,
    since: anyText,
    until: anyText,
    cursor: anyText,
    view: oneOf(['live', 'replays']),
    dialog: oneOf(['replay']),
  }),
  component: lazyPage(() => import('./deliveries-page.tsx'), 'DeliveriesPage'),
});

export const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries/$event/$subscription/$replay',
  params: pathIds('event', 'subscription', 'replay'),
  validateSearch: searchOf({ attempt: anyNumber, dialog: oneOf(['cancel']) }),
  component: lazyPage(() => import('./delivery-page.tsx'), 'DeliveryPage'),
});
