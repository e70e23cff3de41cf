/** How long a new password may be, in characters. Pages import this file, so it imports nothing. */
export const minPasswordCharacters = 12;
export const maxPasswordCharacters = 200;
