export interface Detail {
  readonly field: string;
  readonly message: string;
}

/** What went wrong with a call, in words fit for the page. `status` 0: no answer came at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly details: readonly Detail[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(facts: {
    status: number;
    message: string;
    details?: readonly Detail[];
    extra?: Readonly<Record<string, unknown>>;
    requestId?: string | null;
    retryAfterSeconds?: number | null;
  }) {
    super(facts.message);
    this.status = facts.status;
    this.details = facts.details ?? [];
    this.extra = facts.extra ?? {};
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
  }
}

/** A sentence for whatever was thrown. */
export const errorText = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return sentence(text);
};

/** The server's texts begin in small letters and end without a full stop. */
export const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
};

/** The text for one field of a form, if the server had something to say of it. */
export const fieldError = (error: unknown, field: string): string | undefined => {
  if (!(error instanceof ApiError)) return undefined;
  const detail = error.details.find((one) => one.field.split(/[.[]/)[0] === field);
  return detail && sentence(detail.message);
};

/** True when every problem was said beside its field, so the form need not repeat it. */
export const isFieldError = (error: unknown, fields: readonly string[]): boolean =>
  error instanceof ApiError &&
  error.details.length > 0 &&
  error.details.every((detail) => fields.includes(detail.field.split(/[.[]/)[0] ?? ''));
