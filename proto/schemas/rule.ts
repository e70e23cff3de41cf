import { z } from 'zod';

interface Checked {
  readonly value: Readonly<Record<string, unknown>>;
  readonly issues: z.core.$ZodRawIssue[];
}

interface Fault {
  /** The field of the problem; absent for the body as a whole. */
  readonly field?: string;
  readonly message: string;
  /** Additional fields of the answer. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * A rule about several fields of an object. It is checked even if single fields are invalid (they then hold what was
 * sent), so that a caller learns of all problems at once.
 */
export const rule = (faultOf: (value: Checked['value'], issues: Checked['issues']) => Fault | undefined) =>
  z.core._check(
    ({ value, issues }: Checked) => {
      const fault = faultOf(value, issues);
      if (!fault) return;
      const { field, message, extra } = fault;
      issues.push({
        code: 'custom',
        input: value,
        path: field === undefined ? [] : [field],
        message,
        ...(extra && { params: { extra } }),
      });
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
