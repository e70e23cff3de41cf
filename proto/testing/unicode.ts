import fc from 'fast-check';

/** Any character of Unicode; half of them are ASCII. fast-check's own `'binary'` unit takes seconds to create. */
export const unicode = fc
  .oneof(fc.nat(0x7f), fc.nat(0x10ffff))
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
