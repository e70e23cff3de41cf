import { contactOf, firstNames, lastNames } from '../../../services/crm/demo/people.ts';
import type { Random } from '../../../services/crm/demo/random.ts';

/**
 * People of a large company: a few very common names and a long tail of rare ones, so that the data has common, rare
 * and unique substrings of every length.
 */
export const createVariedPerson = (random: Random, number: number) => {
  const first_name = random.next() < 0.7 ? random.pickSkewed(firstNames) : invented(random, 2);
  const last_name = random.next() < 0.5 ? random.pickSkewed(lastNames) : invented(random, 3);
  return { first_name, last_name, ...contactOf(random, first_name, last_name, number) };
};

const invented = (random: Random, maxSyllables: number): string => {
  let name = '';
  for (let left = random.integer(1, maxSyllables); left >= 0; left--) {
    name += random.pickSkewed(onsets) + random.pickSkewed(vowels) + random.pickSkewed(codas);
  }
  return name.charAt(0).toUpperCase() + name.slice(1);
};

const onsets = [...'nrstlmdkbghpvjfcwzyq', 'st', 'ch', 'br', 'kr', 'sh', 'th', 'tr', 'gl', 'pr', 'sv'];
const vowels = [...'aeiou', 'ai', 'ie', 'ou', 'ö', 'é', 'y'];
const codas = ['', '', '', ...'nrslmtkd', 'nd', 'st', 'ng', 'rk', 'x', 'w'];
