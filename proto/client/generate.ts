import { methodNames } from '../method-names.ts';
import { openApiDocument } from '../openapi/document.ts';
import { keyOperations } from '../operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: the parts of an OpenAPI document.
type Any = any;

/** The text of `interface.generated.ts`: types of all schemas, and a method for each operation of an API key. */
export const clientInterface = (): string => {
  const { paths, components } = openApiDocument() as Any;
  const all = resourcesOf(paths);
  const schemas = Object.entries<Any>(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  // The order of modules' exports differs between the tools that load them.
  const queries = all
    .flatMap(([, methods]) => methods)
    .toSorted((a, b) => (a.operation.id < b.operation.id ? -1 : 1));
  return [
    '// Every command of the repository writes it when `proto` is newer (deploy/local/bootstrap.mjs).',
    "import type { BatchOptions, CallOptions, CreateOptions, ReadOptions, UpdateOptions, WriteOptions } from './options.ts';",
    "import type { Pages } from './pages.ts';",
    '',
    ...schemas.map(([name, schema]) => `${docOf(schema)}export ${declared(name, typeOf(schema))}\n`),
    ...queries.flatMap(({ operation, document }) => queryType(operation.id, document)),
    ...all.map(
      ([resource, methods]) =>
        `export interface ${capital(resource)} {\n${methods.map(methodOf).join('\n')}\n}\n`,
    ),
    'export interface Interface {',
    ...all.map(([resource]) => `  readonly ${resource}: ${capital(resource)};`),
    '}\n',
  ].join('\n');
};

/** The text of `operations.generated.ts`: how each method is called. */
export const clientOperations = (): string =>
  [
    '// Written by `npm run generate`.',
    "import type { Operation } from './options.ts';",
    '',
    'export const operations: { readonly [resource: string]: { readonly [method: string]: Operation } } = {',
    ...resourcesOf((openApiDocument() as Any).paths).map(
      ([resource, methods]) => `  ${resource}: {\n${methods.map(rowOf).join('\n')}\n  },`,
    ),
    '};\n',
  ].join('\n');

/** The text of `terminal/rules.generated.ts`: what the document says of the fields that can be imported. */
export const importRulesFile = (): string => {
  const { paths, components } = openApiDocument() as Any;
  const resolved = ({ $ref, ...schema }: Any): Any =>
    $ref ? { ...resolved(components.schemas[$ref.split('/').at(-1)]), ...schema } : schema;
  const ruleOf = (schema: Any): Any => {
    const kinds: Any[] = (schema.anyOf ?? [schema])
      .map(resolved)
      .flatMap((one: Any) => one.anyOf ?? [one])
      .flatMap((one: Any) => [one.type].flat().map((type: string) => ({ ...one, type })));
    const kind = kinds.find(({ type }) => type === 'string') ?? kinds.find(({ type }) => type !== 'null');
    const { type, minLength, maxLength, minimum, maximum, pattern, format } = kind;
    const isOptional = kinds.some((one) => one.type === 'null') || undefined;
    const isEmail = format === 'email' || undefined;
    return { type, isOptional, isEmail, minLength, maxLength, minimum, maximum, pattern };
  };
  const rulesOf = (path: string): Any => {
    const bodies = Object.entries<Any>(paths)
      .filter(
        ([one, { post, patch }]) => one.replace(/\/\{\w+\}$/, '') === path && (post ?? patch)?.requestBody,
      )
      .map(([, { post, patch }]) => resolved((post ?? patch).requestBody.content['application/json'].schema));
    const required = bodies.flatMap(({ required: names = [] }) => names);
    return Object.fromEntries(
      bodies
        .flatMap(({ properties }) => Object.entries<Any>(properties))
        .filter(([, { readOnly }]) => !readOnly)
        .map(([name, schema]) => [
          name,
          { ...(required.includes(name) && { required: true }), ...ruleOf(schema) },
        ]),
    );
  };
  const base = '/api/v1/integrations';
  const rules = {
    leads: rulesOf(`${base}/leads`),
    clients: rulesOf(`${base}/clients`),
    affiliates: rulesOf(`${base}/affiliates`),
    notes: {
      ...rulesOf(`${base}/clients/{client_id}/notes`),
      client_id: { required: true, type: 'integer', minimum: 1 },
    },
  };
  const kinds = Object.entries<Any>(rules).map(([kind, fields]) => {
    const rows = Object.entries<Any>(fields)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, rule]) => `    ${name}: ${JSON.stringify(rule)},\n`);
    return `  ${kind}: {\n${rows.join('')}  },\n`;
  });
  return `// Written by \`npm run generate\`.\nimport type { Rules } from './import/check.ts';\n\nexport const importRules: { readonly [kind: string]: Rules } = {\n${kinds.join('')}};\n`;
};

/** Resources and their methods, each in the order of their names. */
const resourcesOf = (paths: Any): readonly (readonly [string, readonly Described[]])[] => {
  const described = keyOperations.map((operation) => {
    const [resource, method] = methodNames[operation.id].split('.') as [string, string];
    const document = paths[`/api/v1${operation.path}`][operation.method.toLowerCase()];
    return { resource, method, operation, document };
  });
  return [...Map.groupBy(described, ({ resource }) => resource)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, methods]) => [resource, methods.toSorted((a, b) => (a.method < b.method ? -1 : 1))]);
};

interface Described {
  readonly method: string;
  readonly operation: (typeof keyOperations)[number];
  readonly document: Any;
}

const methodOf = ({ method, operation, document }: Described): string => {
  const ids = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${camel(name!)}: number`);
  const { body, query } = operation;
  const optional = document.requestBody?.required ? '' : '?';
  const input = [
    ...(query ? [`query${body ? '' : '?'}: ${queryName(operation.id)}`] : []),
    ...(body ? [`body${optional}: ${bodyType(document)}`] : []),
  ];
  const sign = (inputs: readonly string[], options: string, answer: string): string =>
    `  ${method}(${[...ids, ...inputs, options].join(', ')}): ${answer};`;
  const answer = answerType(document);
  const options = `options?: ${optionsOf(operation)}`;
  const list = pagedName(operation);
  const listed = list && `Pages<${answer}, ${answer}['${list}'][number]>`;
  const signatures = [
    // With `include: 'meta'` the events are in `entries`.
    ...(operation.id === 'listEvents'
      ? [
          sign(
            [`query: ${queryName(operation.id)} & { include: 'meta' }`],
            options,
            `Pages<${answer}, NonNullable<${answer}['entries']>[number]>`,
          ),
        ]
      : []),
    ...(operation.versioned && operation.method === 'GET'
      ? [sign(input, 'options: ReadOptions & { ifNoneMatch: number | string }', `Promise<${answer} | null>`)]
      : []),
    sign(input, options, listed ?? `Promise<${answer}>`),
  ];
  const about = `${operation.summary}.${operation.description ? `\n\n${operation.description}` : ''}${operation.scope ? `\n\nScope: \`${operation.scope}\`.` : ''}`;
  return comment(about, '  ') + signatures.join('\n');
};

const rowOf = ({ method, operation }: Described): string => {
  const list = pagedName(operation);
  const takes = (['query', 'body'] as const).filter((part) => operation[part]);
  const facts = [
    `method: '${operation.method}'`,
    `path: '${operation.path}'`,
    ...(takes.length > 0 ? [`takes: '${takes.join(' and ')}'`] : []),
    ...(list ? [`list: '${list}'`] : []),
  ];
  return `    ${method}: { ${facts.join(', ')} },`;
};

/** The array of an answer that has further pages. */
const pagedName = (operation: Described['operation']): string | undefined => {
  const { shape } = (operation.answers[200]?.schema ?? {}) as Any;
  return shape?.nextCursor && Object.keys(shape)[0];
};

const successOf = ({ responses }: Any): Any =>
  Object.entries<Any>(responses).find(([status]) => status.startsWith('2'))![1].content?.['application/json']
    .schema;

const answerType = (document: Any): string => {
  const schema = successOf(document);
  return schema ? typeOf(schema) : 'void';
};

const bodyType = ({ requestBody }: Any): string => typeOf(requestBody.content['application/json'].schema);

const optionsOf = ({ method, versioned, isBatch }: Described['operation']): string => {
  if (method === 'POST') return isBatch ? 'BatchOptions' : versioned ? 'CreateOptions' : 'WriteOptions';
  return versioned && method !== 'GET' ? 'UpdateOptions' : 'CallOptions';
};

const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const queryName = (id: string): string => `${capital(id)}Query`;

const queryType = (id: string, { parameters = [] }: Any): readonly string[] => {
  const query = parameters.filter((one: Any) => one.in === 'query');
  if (query.length === 0) return [];
  const fields = query.map(
    ({ name, schema, description, required }: Any) =>
      `${comment(description, '  ')}  ${name}${required ? '' : '?'}: ${typeOf(schema, '  ')}${required ? '' : ' | undefined'};`,
  );
  return [`export interface ${queryName(id)} {\n${fields.join('\n')}\n}\n`];
};

const declared = (name: string, type: string): string =>
  type.startsWith('{') && type.endsWith('}') ? `interface ${name} ${type}` : `type ${name} = ${type};`;

const typeOf = (schema: Any, indent = ''): string => {
  if (schema.$ref) return schema.$ref.split('/').at(-1);
  if (schema.enum) return schema.enum.map((value: unknown) => literal(value)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return [...new Set(union.map((one: Any) => typeOf(one, indent)))].join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type: string) => typeOf({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array': {
      const item = typeOf(schema.items, indent);
      return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      return 'unknown';
  }
};

const objectType = ({ properties, required = [], additionalProperties }: Any, indent: string): string => {
  if (!properties)
    return `{ [name: string]: ${additionalProperties?.type ? typeOf(additionalProperties) : 'unknown'} }`;
  const inner = `${indent}  `;
  const fields = Object.entries<Any>(properties).map(([name, schema]) => {
    const [mark, absent] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
    return `${docOf(schema, inner)}${inner}${name}${mark}: ${typeOf(schema, inner)}${absent};`;
  });
  return fields.length === 0 ? '{ [name: string]: unknown }' : `{\n${fields.join('\n')}\n${indent}}`;
};

const docOf = ({ description }: Any, indent = ''): string => comment(description, indent);

const comment = (text: string | undefined, indent: string): string => {
  if (!text) return '';
  const lines = text.replaceAll('*/', '*\\/').split('\n');
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */\n`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
};

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
