import { errorText } from '../errors.ts';

interface ToastMessage {
  readonly title: string;
  readonly type: 'good' | 'bad';
}

/** Messages wait here until the code that shows them is loaded. */
const waiting: ToastMessage[] = [];
let showNow: ((message: ToastMessage) => void) | undefined;

const send = (message: ToastMessage): void => {
  if (showNow) showNow(message);
  else waiting.push(message);
};

/** Confirms an action. */
export const toast = (title: string): void => send({ title, type: 'good' });

/** Shows an error that no form or dialog shows. */
export const toastError = (error: unknown): void => send({ title: errorText(error), type: 'bad' });

/** From now on, messages go to this function, first those that waited. */
export const showToastsBy = (show: (message: ToastMessage) => void): void => {
  showNow = show;
  for (const message of waiting.splice(0)) show(message);
};
