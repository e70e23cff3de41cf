# CAUSEWAY_KEY holds an API key that may create and change records.
import json, os, urllib.request

request = urllib.request.Request(
    "__BASE_URL__/integrations/leads",
    method="POST",
    headers={"X-Api-Key": os.environ["CAUSEWAY_KEY"], "Content-Type": "application/json"},
    data=json.dumps({
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": "ada@example.com",
        "external_id": "form-1",
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    print("Lead", json.load(response)["client_id"])
