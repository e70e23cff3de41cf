/** The digits of a phone number, last first, as the column `phone_reversed` has them. */
export const reversedDigits = (phone: string): string => [...phone.replace(/[^0-9]/g, '')].reverse().join('');
