import { z } from 'zod';

interface Checked {
  readonly value: Readonly<Record<string, unknown>>;
  readonly issues: z.core.$ZodRawIssue[];
}

interface Fault {
  /** The field that the problem is told of; none for the body as a whole. */
  readonly field?: string;
  readonly message: string;
  /** Further fields of the answer. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/**
 * A rule about several fields of an object. It is checked beside whatever is wrong with single fields, which
 * then hold what was sent, so that a caller learns of everything at once.
 */
export const rule = (faultOf: (value: Readonly<Record<string, unknown>>) => Fault | undefined) =>
  z.core._check(
    ({ value, issues }: Checked) => {
      const fault = faultOf(value);
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
