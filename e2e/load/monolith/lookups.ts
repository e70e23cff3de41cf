import type { FastifyInstance } from 'fastify';
import type { Pool, RowDataPacket } from 'mysql2/promise';

const employeesSql = `SELECT employee_id, full_name FROM employees
  WHERE company_id = ? AND listed_as = 'employee' ORDER BY full_name, employee_id`;

const statusesSql = `SELECT status_id, status_name, is_lead, color_code FROM statuses
  WHERE company_id IN (0, ?) AND is_listed = 1 AND (company_id = 0 OR NOT is_lead)
  ORDER BY company_id = 0, status_name, status_id`;

/** Uses prepared statements; Fastify compiles serialisers from these schemas. */
export const lookups =
  (pool: Pool) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get('/employees', { schema: listOf('employees', employee) }, async (request) => {
      const [employees] = await pool.execute<RowDataPacket[]>(employeesSql, [request.key.companyId]);
      return { employees, count: employees.length };
    });
    app.get('/client-statuses', { schema: listOf('statuses', status) }, async (request) => {
      const [rows] = await pool.execute<RowDataPacket[]>(statusesSql, [request.key.companyId]);
      const statuses = rows.map((row) => ({ ...row, is_active: true }));
      return { statuses, count: statuses.length };
    });
  };

const integer = { type: 'integer' } as const;
const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;

const employee = { employee_id: integer, full_name: string };
const status = {
  status_id: integer,
  status_name: string,
  is_lead: boolean,
  is_active: boolean,
  color_code: string,
};

const listOf = (name: string, item: Readonly<Record<string, unknown>>) => ({
  response: {
    200: {
      type: 'object',
      properties: {
        [name]: { type: 'array', items: { type: 'object', properties: item } },
        count: integer,
      },
    },
  },
});
