/** The digits of a phone number in reverse, as the column `phone_reversed` stores them. */
export const reversedDigits = (phone: string): string => [...phone.replace(/[^0-9]/g, '')].reverse().join('');
