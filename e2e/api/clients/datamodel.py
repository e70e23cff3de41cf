"""Uses models of datamodel-code-generator: python datamodel.py <base URL> <API key>"""

import json
import sys
import urllib.request

import models


def call(method: str, path: str, body: models.BaseModel | None = None) -> str:
    data = body.model_dump_json(exclude_unset=True).encode() if body else None
    url = f"{sys.argv[1]}/api/v1/integrations{path}"
    request = urllib.request.Request(url, data, {"X-Api-Key": sys.argv[2]}, method=method)
    return urllib.request.urlopen(request).read().decode()


lead = models.CreateLeadRequest(first_name="Ada", last_name="Byron", email="ada@example.com")
made = models.PersonCreated.model_validate_json(call("POST", "/leads", lead))
call("PATCH", f"/leads/{made.client_id}", models.UpdateLeadRequest(city="Turin"))
read = models.PersonRecord.model_validate_json(call("GET", f"/people/{made.client_id}"))
events = json.loads(call("GET", "/changes?limit=1"))
models.ListChangesAnswer.model_validate(events)
print("done" if (read.city, read.version) == ("Turin", 2) else read)
