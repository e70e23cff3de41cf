import type { Json } from '@causeway/proto/openapi';
import { callsOf } from './doc-calls.ts';

// biome-ignore lint/suspicious/noExplicitAny: the parts of an OpenAPI document.
type Any = any;

/** The reference as HTML, from the OpenAPI document alone. */
export const referenceHtml = (document: Json): { readonly nav: string; readonly main: string } => {
  const { info, tags, paths, webhooks, components } = document as Any;
  const resolved = (part: Any): Any => {
    const { $ref, ...rest } = part;
    if (part.oneOf) return united(part.oneOf.map(resolved));
    if (!$ref) return part;
    const [, , kind, name] = $ref.split('/');
    return { ...resolved(components[kind][name]), ...rest };
  };
  /** Objects that differ by `type`, as one. */
  const united = (kinds: Any[]): Any => {
    const types = kinds.flatMap(({ properties }) => properties.type.enum);
    const properties = { ...kinds[0].properties, type: { type: 'string', enum: types } };
    for (const name of ['payload', 'record'])
      if (name in properties)
        properties[name] = { type: 'object', description: 'Its fields depend on `type`.' };
    return { ...kinds[0], properties };
  };
  const typeOf = (schema: Any): string => {
    const whole = resolved(schema);
    if (whole.anyOf) return [...new Set(whole.anyOf.map(typeOf))].join(' or ');
    if (whole.items) return `list of ${typeOf(whole.items)}`;
    return [whole.type ?? 'any'].flat().join(' or ') + (whole.format ? `, ${whole.format}` : '');
  };
  const rulesOf = (schema: Any): string => {
    const whole = resolved(schema);
    const [first = {}] = whole.anyOf?.map(resolved) ?? [];
    const { minLength, maxLength, minimum, maximum, maxItems, default: otherwise } = { ...first, ...whole };
    const values = whole.enum ?? whole.items?.enum;
    return [
      values && `one of ${values.map((value: unknown) => `\`${value}\``).join(', ')}`,
      minLength && `at least ${minLength} characters`,
      maxLength && `at most ${maxLength} characters`,
      minimum !== undefined && minimum !== 1 && `at least ${minimum}`,
      maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
      maxItems && `at most ${maxItems} items`,
      otherwise !== undefined && otherwise !== '' && `\`${otherwise}\` when left out`,
    ]
      .filter(Boolean)
      .join('; ');
  };
  const rowsOf = (schema: Any, prefix = ''): string => {
    const whole = resolved(schema);
    const object = whole.items ? resolved(whole.items) : whole;
    return Object.entries<Any>(object.properties ?? {})
      .map(([name, inner]) => {
        const path = `${prefix}${name}`;
        const field = resolved(inner);
        const row = rowOf(path, field, object.required?.includes(name) ?? false);
        return row + rowsOf(field, `${path}${field.items ? '[]' : ''}.`);
      })
      .join('');
  };
  const rowOf = (name: string, schema: Any, isRequired: boolean): string => {
    const { description, anyOf } = resolved(schema);
    const text = [description ?? anyOf?.[0].description, rulesOf(schema)].filter(Boolean).join('\n\n');
    return `<tr><td><code>${escapeHtml(name)}</code>${isRequired ? '' : ' <small>optional</small>'}</td><td>${escapeHtml(typeOf(schema))}</td><td>${markdownHtml(text)}</td></tr>`;
  };
  const table = (title: string, rows: string): string =>
    rows && `<h4>${title}</h4><table><tbody>${rows}</tbody></table>`;
  const example = (title: string, value: unknown): string =>
    value === undefined
      ? ''
      : `<details><summary>${title}</summary><pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre></details>`;
  const parametersOf = ({ parameters = [] }: Any): string =>
    parameters
      .map(resolved)
      .map(({ name, schema, description, required }: Any) =>
        rowOf(name, { ...resolved(schema), ...(description && { description }) }, required ?? false),
      )
      .join('');
  const bodyOf = (part: Any): Any => part?.content?.['application/json'] ?? {};
  const answersOf = ({ responses }: Any): string =>
    Object.entries<Any>(responses)
      .map(([status, answer]) => {
        const response = resolved(answer);
        const json = bodyOf(response);
        const [shown] = Object.values<Any>(json.examples ?? {});
        const isSuccess = status.startsWith('2');
        return `<h4>${status}</h4>${markdownHtml(response.description)}${isSuccess && json.schema ? table('Fields', rowsOf(json.schema)) : ''}${example('Example', json.example ?? shown?.value)}`;
      })
      .join('');
  const section = (heading: string, operation: Any, answers: string, calls = ''): string => {
    const body = bodyOf(operation.requestBody);
    return `<section id="${operation.operationId}"><h3>${escapeHtml(operation.summary)}</h3><p><code>${escapeHtml(heading)}</code>${operation.deprecated ? ' <strong>Deprecated</strong>' : ''}</p>${markdownHtml(operation.description)}${table('Parameters', parametersOf(operation))}${body.schema ? table('Body', rowsOf(body.schema)) : ''}${calls || example('Example of the body', body.example)}${answers}</section>`;
  };
  const calls = (method: string, path: string, operation: Any): string => {
    const { operationId, parameters = [], requestBody } = operation;
    const called = { operationId, parameters: parameters.map(resolved), body: bodyOf(requestBody).example };
    return codeHtml(callsOf(method, path, called), operationId);
  };
  const listed: readonly { readonly operation: Any; readonly html: string }[] = [
    ...Object.entries<Any>(paths).flatMap(([path, methods]) =>
      Object.entries<Any>(methods).map(([method, operation]) => ({
        operation,
        html: section(
          `${method.toUpperCase()} ${path}`,
          operation,
          `<details><summary>Answers</summary>${answersOf(operation)}</details>`,
          calls(method.toUpperCase(), path, operation),
        ),
      })),
    ),
    ...Object.entries<Any>(webhooks).map(([type, { post }], at) => {
      // The text is the same for each event type.
      const description = at === 0 || type.startsWith('endpoint') ? post.description : '';
      return { operation: post, html: section(`POST to your URL: ${type}`, { ...post, description }, '') };
    }),
  ];
  const groups = tags.map(({ name, description }: Any) => ({
    name,
    description,
    all: listed.filter(({ operation }) => operation.tags.includes(name)),
  }));
  return {
    nav: groups
      .map(
        ({ name, all }: Any) =>
          `<h2>${escapeHtml(name)}</h2><ul>${all.map(({ operation }: Any) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`).join('')}</ul>`,
      )
      .join(''),
    main: `<h1>Reference</h1>${markdownHtml(info.description)}${markdownHtml(callsText)}${groups
      .map(
        ({ name, description, all }: Any) =>
          `<h2>${escapeHtml(name)}</h2>${markdownHtml(description)}${all.map(({ html }: Any) => html).join('')}`,
      )
      .join('')}`,
  };
};

const callsText =
  '**Calls.** The lines in TypeScript and Python use `causeway` and `call` of the guide [First call](/docs/first-call). Put IDs of your company in place of theirs.';

/** A document of the project as HTML: headings, lists, tables, code, paragraphs. Nothing in it is taken as HTML. */
export const markdownHtml = (text = ''): string =>
  text
    .split(/((?:^```.*\n(?:(?!```).*\n)*```\n*)+)/m)
    .map((part, at) => (at % 2 ? codeHtml(part, at) : proseHtml(part)))
    .join('\n');

/** Neighbouring blocks are the same in several languages, of which one is shown at a time. */
const codeHtml = (text: string, at: number | string): string => {
  const blocks = [...text.matchAll(/^```(\w*) ?(.*)\n((?:(?!```).*\n)*)```/gm)];
  const shown = blocks.map(([, language = '', name, code = '']) => ({
    title: name || languages[language] || '',
    pre: `<pre><code>${escapeHtml(code.trimEnd())}</code></pre>`,
  }));
  if (shown.length === 1) return shown[0]!.pre;
  return shown
    .map(
      ({ title, pre }, first) =>
        `<details name="code-${at}"${first === 0 ? ' open' : ''}><summary>${escapeHtml(title)}</summary>${pre}</details>`,
    )
    .join('');
};

const languages: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
};

const proseHtml = (text: string): string =>
  text
    .trim()
    .split(/\n{2,}|\n(?=#)|(?<=^#.*)\n/m)
    .filter((block) => block.trim() !== '')
    .map(blockHtml)
    .join('\n');

const blockHtml = (block: string): string => {
  const [, marks, title] = /^(#+) (.*)$/.exec(block) ?? [];
  if (marks && title) {
    return `<h${marks.length} id="${anchorOf(title)}">${inlineHtml(title)}</h${marks.length}>`;
  }
  if (block.startsWith('|')) {
    const [head = '', , ...rows] = block.split('\n').map((row) => row.slice(1, -1).split('|'));
    const row = (cells: readonly string[], tag: string): string =>
      `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell.trim())}</${tag}>`).join('')}</tr>`;
    return `<table><thead>${row([...head], 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`;
  }
  const [, bullet] = /^(-|\d+\.) /.exec(block) ?? [];
  if (!bullet) return `<p>${inlineHtml(block)}</p>`;
  const tag = bullet === '-' ? 'ul' : 'ol';
  const items = block.split(/\n(?=(?:-|\d+\.) )/).map((item) => item.replace(/^(?:-|\d+\.) /, ''));
  return `<${tag}>${items.map((item) => `<li>${inlineHtml(item)}</li>`).join('')}</${tag}>`;
};

export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const inlineHtml = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((part, at) =>
      at % 2 ? `<code>${escapeHtml(part.slice(1, -1), /[&<>"*[]/g)}</code>` : escapeHtml(part),
    )
    .join('')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\*([^*]+)\*/g, '<em>$1</em>')
    .replace(/\[([^\]]+)\]\(([#/][\w#/.-]*)\)/g, '<a href="$2">$1</a>');

export const escapeHtml = (text: string, special = /[&<>"]/g): string =>
  text.replace(special, (character) => `&#${character.charCodeAt(0)};`);
