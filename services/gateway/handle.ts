import { Exchange } from './exchange.ts';
import { invalidHost, pageWithChunks } from './failures.ts';
import type { Gateway } from './gateway.ts';
import { addressOf, readHead } from './http/head.ts';
import type { HttpRequest, HttpResponse } from './http/uws.ts';
import { isApiPath, keyAnswers, serveKey } from './keys/serve.ts';
import { memberAnswers } from './portal/answers.ts';
import { reads, serveMember } from './portal/serve.ts';
import { readVisit } from './portal/visit.ts';

/** Everything needed from uWebSockets.js is read before the first await. */
export const handle = (gateway: Gateway, response: HttpResponse, request: HttpRequest): void => {
  const head = readHead(request);
  if (head.broken) {
    gateway.traffic.broken();
    response.close();
    return;
  }
  const { portal, pages, trustedProxies } = gateway;
  const address = addressOf(response, head, trustedProxies);
  const isPortal = !isApiPath(head.path) && portal.takes(head.path);
  const visit = isPortal ? readVisit(request, address, trustedProxies) : undefined;
  const rules = visit ? memberAnswers(visit.client) : keyAnswers;
  const exchange = new Exchange(gateway, response, head, address, rules);
  try {
    if (!head.hasHost) throw invalidHost();
    const page = visit ? portal.page(head, visit.head) : reads(head.method) && pages.get(head.path);
    if (page) {
      if (head.bodyBytes < 0) throw pageWithChunks();
      exchange.answer(page.status, page.body, page.headers);
      return;
    }
    const served = visit ? serveMember(gateway, exchange, visit) : serveKey(gateway, exchange);
    served.catch((error: unknown) => exchange.fail(error));
  } catch (error) {
    exchange.fail(error);
  }
};
