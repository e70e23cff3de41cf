import { has, type Languages, testReceivers, unless } from './testing/languages.ts';

// Go has no compiled standard library, and compiles it with the first program: 30 s of processor time.

const languages: Languages = {
  Go: {
    file: 'go',
    missing: unless(has('go', 'version'), 'there is no go'),
    command: (file) => ['go', 'run', file],
  },
};

testReceivers(languages);
