import type { Detail } from '@causeway/proto';

/** `status` is 0 if no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number = 0;
  readonly details: readonly Detail[] = [];
  readonly extra: Readonly<Record<string, unknown>> = {};
  readonly requestId: string | null = null;
  readonly retryAfterSeconds: number | null = null;

  constructor({ message, ...facts }: { readonly message: string } & Partial<ApiError>) {
    super(message);
    Object.assign(this, facts);
  }
}

export const errorText = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return sentence(text);
};

export const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};

export const fieldError = (error: unknown, field: string): string | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  const detail = error.details.find((one) => one.field.split(/[.[]/)[0] === field);
  return detail && sentence(detail.message);
};

/** Whether every problem is shown beside its field, so that the form need not repeat it. */
export const isFieldError = (error: unknown, fields: readonly string[]): boolean =>
  error instanceof ApiError &&
  error.details.length > 0 &&
  error.details.every((detail) => fields.includes(detail.field.split(/[.[]/)[0] ?? ''));
