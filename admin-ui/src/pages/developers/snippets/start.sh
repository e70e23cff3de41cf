#!/usr/bin/env bash
# CAUSEWAY_KEY holds an API key that may create and change records.
curl --fail-with-body -X POST "__BASE_URL__/integrations/leads" \
  -H "X-Api-Key: $CAUSEWAY_KEY" \
  -H "Content-Type: application/json" \
  -d '{"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "external_id": "form-1"}'
