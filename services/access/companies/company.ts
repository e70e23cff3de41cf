import type { CompanyAnswer } from '@causeway/proto';

interface CompanyRow {
  readonly company_id: number;
  readonly name: string;
  readonly created_utc: Date;
}

export const companyAnswer = ({ company_id, name, created_utc }: CompanyRow): CompanyAnswer => ({
  company_id,
  name,
  created_utc: created_utc.toISOString(),
});
