import { describe, expect, test } from 'vitest';
import { fold } from './fold.ts';
import { contains, searchText } from './text.ts';

describe('fold', () => {
  test.each([
    ['Smith', 'smith'],
    ['Żółć  Ångström', 'zolc angstrom'],
    ['José\tNúñez', 'jose nunez'],
    ['Straße', 'strasse'],
    ['Søren Østergård', 'soren ostergard'],
    ['İzmir', 'izmir'],
    ['Ħal Għaxaq, Čáhppeš Ŋuorrá, Ǥirku', 'hal ghaxaq, cahppes nuorra, girku'],
    ['Əliyev', 'eliyev'],
    ['Ɓala Ɗan Ƙofar Ƴau', 'bala dan kofar yau'],
    ['Ɔkyɛ Ɖeʋi Ƒo Ɨʉ', 'okye devi fo iu'],
    ['O’Brien ‘Oʻahu ʼokina', "o'brien 'o'ahu 'okina"],
    ['Anne‑Marie–Claire', 'anne-marie-claire'],
    ['علی کریمی', 'علي كريمي'],
    ['Ka\u200dty mi\u00adra', 'katy mira'],
    ['نیک\u200cپی', fold('نيكپي')],
    ['Қазақ Ғабит Өмір', 'казак габит омір'],
    ['ＡＢＣ１２３', 'abc123'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['ﬁne ①', 'fine 1'],
    ['  a  ', 'a'],
    ['50%_\\', '50%_\\'],
  ])('%s becomes %s', (text, plain) => {
    expect(fold(text)).toBe(plain);
  });
});

describe('contains', () => {
  const ann = searchText({ first_name: 'Ann', last_name: 'Lee', email: 'box@example.com' });

  test('a match may span first and last name', () => {
    expect(contains(ann, 'nn le')).toBe(true);
  });

  test('a match may not span name and email', () => {
    expect(contains(ann, 'leebox')).toBe(false);
    expect(contains(ann, 'lee box')).toBe(false);
  });
});
