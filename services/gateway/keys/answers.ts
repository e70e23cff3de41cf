import { basePath } from '@causeway/proto';
import type { AnswerRules } from '../exchange.ts';
import type { Header } from '../limits/policy.ts';

export const apiPrefix = `${basePath}/`;

/** Answers hold personal data, and every one is counted: none may come out of a cache. */
const noStore: Header = ['Cache-Control', 'no-store'];

/** What the answers of the interface have in common. */
export const keyAnswers: AnswerRules = {
  logged: 'request',
  always: [],
  api: [noStore],
  shapeOf: (path) => (path.startsWith(`${apiPrefix}integrations/lookups/`) ? 'lookup' : 'general'),
  translate: (headers) => Object.entries(headers).filter(([name]) => name !== 'Content-Type'),
};
