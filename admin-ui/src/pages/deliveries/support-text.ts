import { causeOf } from '../../model/causes.ts';
import type { Answer } from '../../model/client.ts';

type Delivery = Pick<
  Answer<'getDelivery'>,
  'id' | 'eventId' | 'eventType' | 'eventCreatedUtc' | 'state' | 'attempts' | 'history'
>;

/**
 * A delivery for the receiver's support as Markdown. Texts of others stay texts.
 * @param attempt with personal data masked
 */
export const toMarkdown = (delivery: Delivery, attempt?: Answer<'getAttempt'>): string =>
  [
    `## Webhook delivery ${inline(delivery.id)}`,
    [
      `- Event: ${inline(String(delivery.eventId))}, ${inline(delivery.eventType)}, ${delivery.eventCreatedUtc}`,
      ...(attempt ? [`- URL: ${inline(attempt.request.url)}`] : []),
      `- State: ${delivery.state}`,
    ].join('\n'),
    `### Attempts\n\n${delivery.history.map(lineOf).join('\n') || 'None yet.'}`,
    ...(attempt ? [attemptText(attempt)] : []),
  ].join('\n\n');

const lineOf = (one: Delivery['history'][number]): string =>
  `${one.attempt}. ${one.startedUtc}, ${one.elapsedMs} ms: ${escaped(causeOf(one)?.title ?? `delivered (${one.statusCode})`)}`;

const attemptText = ({ attempt, error, request, response }: Answer<'getAttempt'>): string =>
  [
    `### Attempt ${attempt}`,
    ...(error === null ? [] : [escaped(error)]),
    `Request headers:\n\n${fenced(headersOf(request.headers))}`,
    ...(request.body === null
      ? []
      : [`Request body, masked, so the signature does not match it:\n\n${fenced(request.body, 'json')}`]),
    response
      ? `Response headers:\n\n${fenced(headersOf(response.headers))}\n\nResponse body:\n\n${fenced(response.body)}`
      : 'No response.',
  ].join('\n\n');

const headersOf = (headers: readonly (readonly [string, string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n');

/** The fence is longer than every run of backticks in the text, so nothing in it ends the block. */
export const fenced = (text: string, language = ''): string => {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
};

/** Code within a line (CommonMark, "Code spans"). */
export const inline = (text: string): string => {
  const fence = '`'.repeat(longestRun(text) + 1);
  const pad = /^`|`$/.test(text) ? ' ' : '';
  return `${fence}${pad}${text.replace(/\s+/g, ' ')}${pad}${fence}`;
};

const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));

export const escaped = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/[!-/:-@[-`{-~]/g, (mark) => `\\${mark}`);
