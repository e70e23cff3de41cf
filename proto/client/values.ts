/**
 * What a field of the type takes; any other type is a text. Files and tools have numbers and truth as text, and text as numbers. Null stands for a blank.
 * @returns what is no value of the type as it is, so that the interface judges it
 */
export const convertedTo = (type: string, value: unknown): unknown => {
  const text = String(value ?? '').trim();
  if (text === '') return null;
  if (typeof value === 'object') return value;
  switch (type) {
    case 'boolean':
      return /^(?:true|yes|1)$/i.test(text) || (/^(?:false|no|0)$/i.test(text) ? false : value);
    case 'integer':
    case 'number':
      // A number that JSON cannot carry exactly would become another.
      return /^-?\d+(?:\.\d+)?$/.test(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER
        ? Number(text)
        : value;
    default:
      return typeof value === 'string' ? value : text;
  }
};
