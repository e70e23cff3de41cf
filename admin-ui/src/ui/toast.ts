import { errorText } from './errors.ts';

export interface NewToast {
  readonly title: string;
  readonly type: 'good' | 'bad';
  readonly priority?: 'high';
  readonly timeout: number;
}

/** Toasts added while the code of the toaster loads. */
const waiting: NewToast[] = [];
let show: ((one: NewToast) => void) | undefined;

const add = (one: NewToast): void => {
  if (show) show(one);
  else waiting.push(one);
};

export const toast = (title: string): void => add({ title, type: 'good', timeout: 5000 });

export const toastError = (error: unknown): void =>
  add({ title: errorText(error), type: 'bad', priority: 'high', timeout: 10_000 });

/** @param showOne undefined when nothing shows toasts any more. */
export const onToast = (showOne: ((one: NewToast) => void) | undefined): void => {
  show = showOne;
  if (show) waiting.splice(0).forEach(show);
};
