import type { Action } from '../table.ts';

/** Keys are permanent: Zaps contain them. */
export const keyOf = ({ resource, operation }: Action): string => {
  const [verb, ...rest] = snake(operation).split('_');
  return [verb, singular(resource), ...rest].join('_');
};

export const singular = (resource: string): string =>
  resource === 'people' ? 'person' : resource.replace(/s$/, '');

export const nounOf = (resource: string): string => capital(singular(resource));

/** `update_lead_status` → `Update Lead Status`. */
export const titled = (key: string): string => key.split('_').map(capital).join(' ');

/** `leadStatuses` → `lead_statuses`. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);
