import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { request } from 'undici';

interface Lead {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone?: string | null;
  readonly city?: string | null;
  readonly external_id?: string | null;
}

/**
 * Creates and updates leads. A create is one transaction, which numbers its event last as the cluster does; an update
 * is one statement. There is no outbox, no publishing and no search index; with a URL, each event is sent there once.
 */
export const leads =
  (pool: Pool, webhookUrl: string | undefined) =>
  async (app: FastifyInstance): Promise<void> => {
    app.post<{ Body: Lead }>('/', { schema: { body: create, response: created } }, async (request, reply) => {
      const { companyId } = request.key;
      const connection = await pool.getConnection();
      try {
        await connection.beginTransaction();
        const { answer, event } = await insert(connection, companyId, request.body);
        await connection.commit();
        if (webhookUrl)
          void deliver(webhookUrl, event).catch((error) => request.log.error(error, 'not delivered'));
        return reply.code(201).send(answer);
      } catch (error) {
        await connection.rollback();
        if ((error as { errno?: number }).errno !== duplicateEntry) throw error;
        return await overwrite(connection, companyId, request.body);
      } finally {
        connection.release();
      }
    });
    app.patch<{ Body: Partial<Lead>; Params: { id: number } }>(
      '/:id',
      { schema: { body: update, params, response: updated } },
      async (request, reply) => {
        const now = new Date();
        const fields = Object.entries(request.body);
        const [{ affectedRows }] = await pool.query<ResultSetHeader>(
          `UPDATE clients c JOIN statuses s ON s.status_id = c.status_id
           SET ${fields.map(([name]) => `c.${name} = ?`).join(', ')}, c.updated_utc = ?
           WHERE c.company_id = ? AND c.client_id = ? AND s.is_lead`,
          [...fields.map(([, value]) => value), now, request.key.companyId, request.params.id],
        );
        if (affectedRows === 0) return reply.code(404).send({ error: 'lead not found' });
        return { success: true, updated_utc: now.toISOString(), client_id: request.params.id };
      },
    );
  };

const duplicateEntry = 1062;
const leadNew = { id: 1, name: 'Lead - New' };

const insert = async (connection: PoolConnection, companyId: number, lead: Lead) => {
  const now = new Date();
  const { first_name, last_name, email, phone = null, city = null, external_id = null } = lead;
  const [{ insertId }] = await connection.execute<ResultSetHeader>(
    `INSERT INTO clients (company_id, status_id, first_name, last_name, email, phone, city, external_id,
       created_utc, updated_utc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [companyId, leadNew.id, first_name, last_name, email, phone, city, external_id, now, now],
  );
  const created_utc = now.toISOString();
  const [{ insertId: sequence }] = await connection.execute<ResultSetHeader>(
    `INSERT INTO event_sequences (company_id, last_sequence) VALUES (?, LAST_INSERT_ID(1))
     ON DUPLICATE KEY UPDATE last_sequence = LAST_INSERT_ID(last_sequence + 1)`,
    [companyId],
  );
  const status = leadNew.name;
  const payload = {
    client_id: insertId,
    first_name,
    last_name,
    email,
    phone: phone ?? '',
    status,
    created_date: created_utc,
  };
  const type = 'lead.created';
  const [{ insertId: id }] = await connection.execute<ResultSetHeader>(
    'INSERT INTO events (company_id, sequence, created_utc, type, payload) VALUES (?, ?, ?, ?, ?)',
    [companyId, sequence, now, type, JSON.stringify(payload)],
  );
  return {
    answer: { client_id: insertId, status, created_utc },
    event: { id, type, createdUtc: created_utc, companyId, payload },
  };
};

const secret = 'whsec_of_the_monolith';

/** One signed attempt, remembered nowhere. */
const deliver = async (url: string, event: { readonly type: string }): Promise<void> => {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-webhook-timestamp': `${timestamp}`,
    'x-webhook-signature': `sha256=${signature}`,
  };
  const answer = await request(url, { method: 'POST', headers, body });
  await answer.body.dump();
};

const overwrite = async (connection: PoolConnection, companyId: number, lead: Lead) => {
  const { external_id, ...fields } = lead;
  await connection.query('UPDATE clients SET ?, updated_utc = ? WHERE company_id = ? AND external_id = ?', [
    fields,
    new Date(),
    companyId,
    external_id,
  ]);
  const [rows] = await connection.query<RowDataPacket[]>(
    `SELECT client_id, status_name AS status, created_utc
     FROM clients JOIN statuses USING (status_id) WHERE clients.company_id = ? AND external_id = ?`,
    [companyId, external_id],
  );
  return rows[0];
};

const name = { type: 'string', minLength: 1, maxLength: 100 } as const;
const optional = (maxLength: number) => ({ type: ['string', 'null'], maxLength }) as const;
const properties = {
  first_name: name,
  last_name: name,
  email: { type: 'string', format: 'email', maxLength: 254 },
  phone: optional(32),
  city: optional(100),
  external_id: optional(100),
} as const;
const create = {
  type: 'object',
  properties,
  required: ['first_name', 'last_name', 'email'],
  additionalProperties: false,
} as const;
const update = { type: 'object', properties, minProperties: 1, additionalProperties: false } as const;
const params = { type: 'object', properties: { id: { type: 'integer', minimum: 1 } } } as const;

const answer = (fields: Readonly<Record<string, object>>) => ({ type: 'object', properties: fields });
const text = { type: 'string' };
const integer = { type: 'integer' };
const made = answer({ client_id: integer, status: text, created_utc: text });
const created = { 200: made, 201: made };
const updated = { 200: answer({ success: { type: 'boolean' }, updated_utc: text, client_id: integer }) };
