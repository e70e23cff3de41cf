import { basePath } from '@causeway/proto';
import type { AnswerRules } from '../exchange.ts';
import type { Header } from '../limits/policy.ts';

export const apiPrefix = `${basePath}/`;

/** Answers contain personal data, and every request is counted: no cache may store them. */
const noStore: Header = ['Cache-Control', 'no-store'];

/** The properties of all answers of the integration interface. */
export const keyAnswers: AnswerRules = {
  logged: 'request',
  always: [],
  api: [noStore],
  shapeOf: (path) => (path.startsWith(`${apiPrefix}integrations/lookups/`) ? 'lookup' : 'general'),
  translate: (headers) => Object.entries(headers).filter(([name]) => name !== 'Content-Type'),
};
