import { setupI18n } from '@lingui/core';
import type { TransProps } from '@lingui/react';
import { TransNoContext } from '@lingui/react/server';

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const key = 'causeway.language';

/** What the macros `t`, `plural` and `msg` call. English texts are in the code. */
export const i18n = setupI18n({ locale: 'en', messages: { en: {} } });

/** What the macros `Trans`, `Plural` and `Select` become. The language stays while the page is open: no context follows it. */
export const Trans = (props: TransProps) => <TransNoContext {...props} lingui={{ i18n }} />;

export const language = (): Language => i18n.locale as Language;

/** For numbers and dates: the reader's own variant of the language, such as `en-GB`. */
export const locale = (): string =>
  navigator.languages.find((one) => one.startsWith(language())) ?? language();

const isLanguage = (value: string | null | undefined): value is Language =>
  typeof value === 'string' && Object.hasOwn(languages, value);

/** The language that was chosen in this browser, else the first of the browser's languages that the portal knows. */
const wantedLanguage = (): Language => {
  const known = [readChoice(), navigator.language.slice(0, 2)].find(isLanguage);
  return known ?? 'en';
};

const readChoice = (): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

let serverTexts: typeof import('../server-texts.ts') | undefined;

/** An error of the server in the reader's language. */
export const problemInWords: typeof import('../server-texts.ts').translateProblem = (facts) =>
  serverTexts?.translateProblem(facts) ?? facts;

/** Something to which the server gives a title, in the reader's language. */
export const inWords = <One extends { readonly title: string }>(code: keyof Things, one: One): One => ({
  ...one,
  ...serverTexts?.namedThings()[code],
});

type Things = ReturnType<typeof import('../server-texts.ts').namedThings>;

/** Before the first text is shown. Without its catalog the portal is English. */
export const loadLanguage = async (): Promise<void> => {
  if (wantedLanguage() === 'de') {
    const loading = Promise.all([import('./de.po'), import('../server-texts.ts')]);
    const [catalog, texts] = await loading.catch(() => []);
    if (catalog) i18n.loadAndActivate({ locale: 'de', messages: catalog.messages });
    serverTexts = texts;
  }
  document.documentElement.lang = language();
};

/** Loads the page again, so that no text of the language before is left. */
export const chooseLanguage = (chosen: Language): void => {
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // Without storage, the browser's language holds.
  }
  location.reload();
};

/** Makes a value when it is first needed: a formatter takes a slow device some 15 ms, and a table of texts needs the language. */
export const onFirstUse = <Value,>(make: () => Value): (() => Value) => {
  let made: Value | undefined;
  return () => (made ??= make());
};
