/** A phone number as it is compared: by digits alone, in reverse, so that a search by the end of a number is a prefix search. */
export interface PhoneDigits {
  /** As the column `phone_reversed` has them. */
  readonly all: string;
  /** Without a `(0)`, which is dialled only within the country. */
  readonly dialled: string;
  /** Without an extension either, as the column `phone_main_reversed` has them. */
  readonly main: string;
}

export const phoneDigits = (phone: string): PhoneDigits => {
  const dialled = phone.replaceAll('(0)', '');
  return { all: reversed(phone), dialled: reversed(dialled), main: reversed(dialled.replace(extension, '')) };
};

/** Every mark of an extension but `int` and `#` has an `x` (contract, "Fields"). */
const extension = /(?:int|[x#]).*$/i;

const reversed = (phone: string): string => [...phone.replace(/[^0-9]/g, '')].reverse().join('');
