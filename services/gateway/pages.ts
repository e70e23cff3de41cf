import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { basePath } from '@causeway/proto';
import { type Json, openApiDocument } from '@causeway/proto/openapi';
import { anchorOf, escapeHtml, markdownHtml, referenceHtml } from './docs.ts';
import type { Header } from './limits/limiter.ts';
import { type CachingHead, etagOf, type Page, send } from './portal/files.ts';

export type Pages = ReadonlyMap<string, (head: CachingHead) => Page>;

/** What everybody may read: made at the start, the same for all, from no record and no header but those of caching. */
export const createPages = (server?: string): Pages => {
  const document = openApiDocument({ server });
  const contract = read('proto/CONTRACT.md');
  const html = read('admin-ui/public/docs.html');
  const shell = (title: string, nav: string, main: string): string =>
    html.replace(
      /__(TITLE|NAV|MAIN)__/g,
      (mark) => ({ __TITLE__: title, __NAV__: nav, __MAIN__: main })[mark]!,
    );
  const reference = referenceHtml(document);
  const receivers = receiversGuide();
  const textOf = (name: string): string =>
    read(`proto/guides/${name}.md`).replaceAll('__SERVER__', server ?? 'https://crm.example.com');
  const guideTexts = Object.entries(guides).map(([name, title]) => [name, title, textOf(name)] as const);
  const links = [...Object.entries(guides), ['webhooks', webhooksTitle]];
  const guideNav = `<h2>Guides</h2><ul>${links.map(([name, title]) => `<li><a href="/docs/${name}">${title}</a></li>`).join('')}</ul>`;
  const sections = contract.split('\n').flatMap((line) => /^## (.*)/.exec(line)?.[1] ?? []);
  const contents = sections.map((name) => `- [${name}](#${anchorOf(name)})`);
  const welcome = htmlPage(read('admin-ui/public/index.html'), 'no-cache');
  return new Map([
    [`${basePath}/openapi.json`, documentPage(document)],
    [
      `${basePath}/openapi.json?webhooks=false`,
      documentPage(openApiDocument({ server, withWebhooks: false })),
    ],
    ['/docs', htmlPage(shell('Reference', guideNav + reference.nav, reference.main))],
    ...guideTexts.map(
      ([name, title, text]) =>
        [`/docs/${name}`, htmlPage(shell(title, guideNav, markdownHtml(text)))] as const,
    ),
    ['/docs/webhooks', htmlPage(shell(webhooksTitle, guideNav + receivers.nav, receivers.main))],
    [
      '/docs/contract',
      htmlPage(shell('Contract', markdownHtml(contents.join('\n')), markdownHtml(contract))),
    ],
    ['/docs/contract.md', page(contract, 'text/markdown; charset=utf-8')],
    [
      '/docs/settings.schema.json',
      page(read('proto/portal/settings.generated.json'), 'application/schema+json'),
    ],
    ['/llms.txt', page(llmsText, 'text/plain; charset=utf-8')],
    [
      '/llms-full.txt',
      page(
        [llmsText, ...guideTexts.map(([, , text]) => text), contract].join('\n'),
        'text/plain; charset=utf-8',
      ),
    ],
    ['/.well-known/api-catalog', page(JSON.stringify(apiCatalog), catalogType, [catalogLink])],
    ['/', welcome],
    ['/portal', welcome],
  ]);
};

/** Tests run their programs. */
const guides = {
  'first-call': 'First call',
  import: 'Import a list',
  sync: 'Keep two systems in step',
  reconciliation: 'Reconcile every night',
  errors: 'Errors, and what to do',
  limits: 'Live with the limits',
  tools: 'Client, terminal, agents, n8n and Zapier',
  versions: 'Versions and changes',
} as const;
const webhooksTitle = 'Receive and verify a webhook';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const page = (text: string, type: string, more: readonly Header[] = [], caching = 'public, max-age=300') => {
  const plain = Buffer.from(text);
  const file = { plain, encoded: [{ encoding: 'gzip', body: gzipSync(plain) }], type, etag: etagOf(plain) };
  return (head: CachingHead): Page => {
    const answer = send(file, head, caching);
    return { ...answer, headers: [...answer.headers, ['X-Content-Type-Options', 'nosniff'], ...more] };
  };
};

/** Tools that run in a browser may read it from any site. */
const documentPage = (document: Json) =>
  page(JSON.stringify(document), 'application/json', [['Access-Control-Allow-Origin', '*']]);

const htmlPage = (text: string, caching?: string) => {
  // The page's only style sheet is inline; it may load and run nothing else.
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
  const styleHash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const headers: readonly Header[] = [
    ['Content-Security-Policy', policy],
    ['Referrer-Policy', 'no-referrer'],
  ];
  return page(text, 'text/html; charset=utf-8', headers, caching);
};

/** RFC 9727. Addresses are relative: a `Host` that somebody made up must not get into a cache. */
const apiCatalog = {
  linkset: [
    {
      anchor: basePath,
      'service-desc': [{ href: `${basePath}/openapi.json`, type: 'application/json' }],
      'service-doc': [{ href: '/docs', type: 'text/html' }],
    },
  ],
};
const catalogType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
const catalogLink: Header = ['Link', '</.well-known/api-catalog>; rel="api-catalog"'];

const llmsText = `# Causeway

> The integration interface of a multi-tenant CRM: lookups, leads, clients, affiliates and notes, and signed webhooks.

Every request carries an API key in the header X-Api-Key. GET ${basePath}/integrations/me answers whose key it is and what it may do.

## Documentation

- [OpenAPI 3.1 document](${basePath}/openapi.json): every operation, its errors and examples
- [Contract](/docs/contract.md): every rule
- [Receive and verify a webhook](/docs/webhooks): programs in nine languages
- [Reference](/docs): the OpenAPI document as a page
${Object.entries(guides)
  .map(([name, title]) => `- [${title}](/docs/${name})`)
  .join('\n')}
- [All of it as text](/llms-full.txt)

Agents that speak the Model Context Protocol use POST /mcp with the same key: every operation is a tool.
For TypeScript there is a client, @causeway/client, with a command for the terminal: npx causeway listen, trigger and tail.
For n8n there is the package n8n-nodes-causeway, for Zapier an app. [How to use them](/docs/tools).
`;

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
const receiversGuide = (): { readonly nav: string; readonly main: string } => {
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

const introduction = `# ${webhooksTitle}

Anyone can post to your receiver. The signature proves that a delivery comes from this service and was not changed.
Each program here checks it and answers 204, or 401 if it is wrong. The rules are in the contract's section "Deliveries".

1. [Create a subscription](/docs#createSubscription) with your receiver's URL. The answer has its signing secret, once. An address of
   your own machine is accepted where the installation allows private ones; elsewhere \`causeway listen\`
   ([tools](/docs/tools)) brings deliveries there.
2. Start the program with that secret as \`WEBHOOK_SECRET\` in its environment, and \`PORT\`.
3. [Send a test delivery](/docs#testSubscription), or [create a lead](/docs#createLead). The same delivery with one byte of its body
   changed is answered 401.

If a genuine delivery is refused, one of these is the reason:

- The body was parsed and written again, or got a line break at its end: check the bytes exactly as they came.
- The secret is another one, or not whole: it begins with \`whsec_\`, and no space or line break belongs to it.
- The clock of the receiver is wrong by more than five minutes.
- The secret was rotated: until the overlap ends there are two signatures with a comma between them, and one of them fits.`;
