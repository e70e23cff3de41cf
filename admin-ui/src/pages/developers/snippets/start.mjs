// CAUSEWAY_KEY holds an API key that may create and change records.
const response = await fetch('__BASE_URL__/integrations/leads', {
  method: 'POST',
  headers: { 'X-Api-Key': process.env.CAUSEWAY_KEY, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
    external_id: 'form-1',
  }),
});
const answer = await response.json();
if (!response.ok) throw new Error(`${response.status}: ${answer.error}`);
console.log('Lead', answer.client_id);
