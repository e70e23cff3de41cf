import { type Receiver, type ReceiverOptions, startReceiver } from '@causeway/local/receiver';
import { cleanUp } from '@causeway/runtime/testing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Json, World } from './open.ts';

/**
 * A receiver that compares every delivery (payload, envelope and headers) with the schema that the OpenAPI document
 * publishes for its event type. It stops with the test or file that started it, which fails if a delivery differed.
 */
export const startPublishedReceiver = async (
  world: World,
  options: Omit<ReceiverOptions, 'counted'> = {},
): Promise<Receiver> => {
  const problemOf = readPublished((await world.ask('/openapi.json')).json);
  const problems = new Set<string>();
  const note = (names: readonly string[], body: Buffer): void => {
    const problem = problemOf(names, body);
    if (problem) problems.add(problem);
  };
  const receiver = await startReceiver({
    ...options,
    counted: (_, headers, body) =>
      note(
        headers.filter((_header, at) => at % 2 === 0),
        body,
      ),
  });
  cleanUp(async () => {
    await receiver.close();
    for (const { headers, body } of receiver.received) note(Object.keys(headers), body);
    expect([...problems]).toEqual([]);
  });
  return receiver;
};

/** @returns a function that describes how a delivery differs from the document; undefined if it does not. */
export const readPublished = (
  document: Json,
): ((headerNames: readonly string[], body: Buffer) => string | undefined) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'document');
  return (headerNames, body) => {
    const event: Json = JSON.parse(body.toString());
    const described = document.webhooks[event.type]?.post;
    if (!described) return `${event.type} is not described`;
    const { schema } = described.requestBody.content['application/json'];
    const validate = ajv.getSchema(`document${schema.$ref}`)!;
    if (!validate(event)) return `${body} ${ajv.errorsText(validate.errors)}`;
    const sent = new Set(headerNames.map((name) => name.toLowerCase()));
    const missing = described.parameters.find(
      ({ name, required }: Json) => required && !sent.has(name.toLowerCase()),
    );
    return missing && `${event.type} lacks the header ${missing.name}`;
  };
};
