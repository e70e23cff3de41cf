/** Throws a plain sentence, which the form shows. */
export const parsePayload = (text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The payload is not valid JSON. The editor marks the error');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The payload must be a JSON object');
  return value as Record<string, unknown>;
};
