import { readFileSync } from 'node:fs';
import { escapeHtml, markdownHtml } from './docs.ts';

const programs = {
  'Node.js': 'mjs',
  'TypeScript, with our client': 'mts',
  Python: 'py',
  PHP: 'php',
  Go: 'go',
  Ruby: 'rb',
  Java: 'java',
  'C#': 'cs',
  'Shell, for a check by hand': 'sh',
};

/** The page "Receive and verify a webhook". Tests run its programs. */
export const receiversGuide = (): { readonly nav: string; readonly main: string } => {
  const sections = Object.entries(programs).map(([language, ending]) => {
    const text = readFileSync(
      new URL(`../../admin-ui/public/receivers/verify.${ending}`, import.meta.url),
      'utf8',
    ).trimEnd();
    return `<section id="${ending}"><h3>${language}</h3><pre><code>${escapeHtml(text)}</code></pre></section>`;
  });
  const links = Object.entries(programs).map(([language, ending]) => `- [${language}](#${ending})`);
  return { nav: markdownHtml(links.join('\n')), main: `${markdownHtml(introduction)}${sections.join('')}` };
};

const introduction = `# Receive and verify a webhook

Anyone can post to your receiver. The signature proves that a delivery comes from this service and was not changed.
Each program here checks it and answers 204, or 401 if it is wrong. Set the subscription's signing secret as
\`WEBHOOK_SECRET\` in its environment. The rules are in the contract's section "Deliveries".

If a genuine delivery is refused, one of these is the reason:

- The body was parsed and written again, or got a line break at its end: check the bytes exactly as they came.
- The secret is another one, or not whole: it begins with \`whsec_\`, and no space or line break belongs to it.
- The clock of the receiver is wrong by more than five minutes.
- The secret was rotated: until the overlap ends there are two signatures with a comma between them, and one of them fits.`;
