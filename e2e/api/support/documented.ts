import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Reply } from './open.ts';

/** Says what is wrong with an answer to an operation of the OpenAPI document; undefined where nothing is. */
export type Documented = (operation: Json, reply: Reply) => string | undefined;

/** Checks answers against what the document says of their status: the body's schema, and that each header is there. */
export const readDocument = (document: Json): Documented => {
  const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6, validateFormats: false, allErrors: true });
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
