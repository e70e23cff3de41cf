import { keyOperations } from '@causeway/proto';
import { methodNames } from '@causeway/proto/method-names';

/** What a call needs of an operation in the OpenAPI document. */
export interface CalledOperation {
  readonly operationId: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly example?: unknown;
  }[];
  readonly body: unknown;
}

/** A call in curl, TypeScript and Python, as Markdown. The last two go on from the programs of the guide "First call". */
export const callsOf = (method: string, path: string, operation: CalledOperation): string => {
  const { operationId, parameters, body } = operation;
  const inPath = parameters.filter((one) => one.in === 'path');
  const filled = inPath.reduce((left, { name, example }) => left.replace(`{${name}}`, `${example}`), path);
  const named = parameters.find(
    ({ in: place, name }) => place === 'query' && name === 'external_id',
  )?.example;
  const query = typeof named === 'string' ? { external_id: named } : undefined;
  const target = filled + (query ? `?external_id=${query.external_id}` : '');
  const { id } = keyOperations.find(
    (one) => operationId === ('operationId' in one ? one.operationId : one.id),
  )!;
  const ids = inPath.map(({ example }) => String(example));
  const argumentTexts = [...ids, ...[query, body].filter(Boolean).map((value) => script(value))];
  const sent =
    body === undefined ? '' : ` -H "Content-Type: application/json" \\\n  -d '${JSON.stringify(body)}'`;
  const curl = `curl -sS -X ${method} -H "X-Api-Key: $CAUSEWAY_KEY"${sent} \\\n  "$CAUSEWAY_URL${target}"`;
  const python = [method, target.replace('/api/v1', '')].map((text) => JSON.stringify(text));
  if (body !== undefined) python.push(pythonic(body));
  return [
    ['sh', curl],
    ['ts', `const answer = await causeway.${methodNames[id]}(${argumentTexts.join(', ')});`],
    ['python', `answer = call(${python.join(', ')})`],
  ]
    .map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\`\n`)
    .join('');
};

/** As a person writes it in TypeScript. */
const script = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(script).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${name}: ${script(inner)}`)
    .join(', ')} }`;
};

const pythonic = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(pythonic).join(', ')}]`;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `"${name}": ${pythonic(inner)}`)
    .join(', ')}}`;
};
