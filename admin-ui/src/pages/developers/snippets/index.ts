import type { languages } from '../../../model/queries.ts';
import startCs from './start.cs?raw';
import startGo from './start.go?raw';
import startJava from './start.java?raw';
import startNode from './start.mjs?raw';
import startTypeScript from './start.mts?raw';
import startPhp from './start.php?raw';
import startPython from './start.py?raw';
import startRuby from './start.rb?raw';
import startBash from './start.sh?raw';
import verifyCs from './verify.cs?raw';
import verifyGo from './verify.go?raw';
import verifyJava from './verify.java?raw';
import verifyNode from './verify.mjs?raw';
import verifyTypeScript from './verify.mts?raw';
import verifyPhp from './verify.php?raw';
import verifyPython from './verify.py?raw';
import verifyRuby from './verify.rb?raw';
import verifyBash from './verify.sh?raw';

interface Snippet {
  readonly label: string;
  /** `__BASE_URL__` stands for the URL of the installation. */
  readonly start: string;
  readonly verify: string;
}

export const snippets: Readonly<Record<(typeof languages)[number], Snippet>> = {
  bash: { label: 'curl', start: startBash, verify: verifyBash },
  node: { label: 'Node', start: startNode, verify: verifyNode },
  typescript: { label: 'TypeScript', start: startTypeScript, verify: verifyTypeScript },
  python: { label: 'Python', start: startPython, verify: verifyPython },
  php: { label: 'PHP', start: startPhp, verify: verifyPhp },
  go: { label: 'Go', start: startGo, verify: verifyGo },
  ruby: { label: 'Ruby', start: startRuby, verify: verifyRuby },
  java: { label: 'Java', start: startJava, verify: verifyJava },
  csharp: { label: 'C#', start: startCs, verify: verifyCs },
};
