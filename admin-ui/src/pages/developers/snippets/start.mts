// npm install @causeway/client
import { createClient } from '@causeway/client';

// CAUSEWAY_KEY holds an API key that may create and change records.
const causeway = createClient({ baseUrl: '__BASE_URL__', apiKey: process.env.CAUSEWAY_KEY! });
const lead = await causeway.leads.create({
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.com',
  external_id: 'form-1',
});
console.log('Lead', lead.client_id);
