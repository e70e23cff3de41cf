import { z } from 'zod';

/** Parts of answers, used for types, the OpenAPI document and tests. */

export const id = z.int().min(1);
export const count = z.int().min(0).meta({ description: 'Number of items in this answer.' });
export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });
