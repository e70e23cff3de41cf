/** In characters. Pages import this file, so it imports nothing. */
export const minPasswordCharacters = 12;
export const maxPasswordCharacters = 200;
