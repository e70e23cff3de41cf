import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Reply } from './open.ts';

/** Returns the difference between an answer and its operation in the OpenAPI document; undefined if there is none. */
export type Documented = (operation: Json, reply: Reply) => string | undefined;

/** Checks answers against the document: the schema of the body, and that every header is present. */
export const readDocument = (document: Json): Documented => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'document');
  return (operation, { status, text, json, headers }) => {
    let response = operation.responses[status];
    if (!response) return `${operation.operationId} does not document ${status}: ${text}`;
    if (response.$ref) response = document.components.responses[response.$ref.split('/').at(-1)];
    const validate = ajv.getSchema(`document${response.content['application/json'].schema.$ref}`);
    if (!validate?.(json)) return `${status} ${text} ${ajv.errorsText(validate?.errors)}`;
    const isPromised = (header: Json): boolean =>
      (header.$ref ? document.components.headers[header.$ref.split('/').at(-1)] : header).required;
    const missing = Object.entries<Json>(response.headers).find(
      ([name, header]) =>
        name !== 'WWW-Authenticate' && isPromised(header) && !(name.toLowerCase() in headers),
    )?.[0];
    return missing && `${status} lacks ${missing}`;
  };
};
