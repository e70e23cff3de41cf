/** Raised with each change of `fold`: the indexer then indexes again what an earlier version folded (`refoldCompany`). */
export const foldingVersion = 1;

/**
 * The form in which the search compares texts: no case, accents, compatibility forms, strokes, ligatures and invisible
 * characters; white space is one space. `Żółć  Ångström` → `zolc angstrom`. For the index and for queries alike.
 */
export const fold = (text: string): string => {
  const plain = isAscii(text)
    ? text.toLowerCase()
    : text
        .normalize('NFKD')
        .toLowerCase()
        .replace(unseen, '')
        .replace(/\P{ASCII}/gu, (letter) => foldedLetters.get(letter) ?? letter)
        // Recomposes what is not a letter with an accent, such as the syllables of Korean.
        .normalize('NFC');
  return plain.replace(/[\s\p{Cc}]+/gu, ' ').trim();
};

/** Whether a version of the folding may have left another text than another version. */
export const foldsAlike = (text: string): boolean => isAscii(text);

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Accents, joiners, soft hyphens, marks of direction, and the stroke that makes Arabic words longer. */
const unseen = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}ـ]+/gu;

/** What Unicode does not decompose and people type as another letter, in small letters. */
const foldings: Readonly<Record<string, string>> = {
  a: 'ɑ',
  ae: 'æ',
  b: 'ƀɓƃ',
  c: 'ȼƈ',
  d: 'đðɖɗƌȡ',
  e: 'əǝɛɇ',
  f: 'ƒ',
  g: 'ǥɠɣ',
  h: 'ħɦⱨ',
  i: 'ıɨɩ',
  j: 'ȷɉ',
  k: 'ƙⱪĸ',
  l: 'łƚɫⱡ',
  m: 'ɱ',
  n: 'ŋɲƞ',
  o: 'øɔɵ',
  oe: 'œ',
  p: 'ƥ',
  q: 'ɋ',
  r: 'ɍɽ',
  s: 'ʂȿ',
  ss: 'ß',
  t: 'ŧƭʈⱦ',
  th: 'þ',
  u: 'ʉʊ',
  v: 'ʋ',
  w: 'ⱳ',
  y: 'ɏƴ',
  z: 'ƶȥʐ',
  а: 'ә',
  г: 'ґғҕ',
  ж: 'җ',
  з: 'ҙ',
  к: 'қҝҟҡӄ',
  н: 'ңҥӈ',
  о: 'ө',
  с: 'ҫ',
  т: 'ҭ',
  у: 'үұ',
  х: 'һҳӽ',
  ч: 'ҷҹӌ',
  σ: 'ς',
  כ: 'ך',
  מ: 'ם',
  נ: 'ן',
  פ: 'ף',
  צ: 'ץ',
  ا: 'ٱ',
  ه: 'ةہە',
  ي: 'ىی',
  ك: 'کڪ',
  "'": '‘’‛ʹʻʼʽ′׳ꞌ',
  '"': '“”„‟″״',
  '-': '‐‒–—―−',
};
const foldedLetters: ReadonlyMap<string, string> = new Map(
  Object.entries(foldings).flatMap(([folded, letters]) =>
    [...letters].map((letter) => [letter, folded] as const),
  ),
);
