"""Uses a client that openapi-python-client generated: python round-trip.py <base URL> <API key>"""

import importlib
import pkgutil
import sys

import causeway_client as package
from causeway_client import AuthenticatedClient
from causeway_client.api.clients import create_client_record
from causeway_client.api.lookups import search_clients
from causeway_client.api.webhook_subscriptions import create_subscription, update_subscription
from causeway_client.models import (
    CreateClientRequest,
    CreateSubscriptionRequest,
    ApiError,
    UpdateSubscriptionRequest,
)
from causeway_client.models.event_type import EventType

for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    importlib.import_module(module.name)

base_url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-Api-Key")

person = CreateClientRequest(
    first_name="Zoë", last_name="Byron", email="zoe@example.com", external_id="python-1"
)
made = create_client_record.sync_detailed(client=client, body=person)
assert made.status_code == 201, made
again = create_client_record.sync_detailed(client=client, body=person)
assert again.status_code == 200 and again.parsed.client_id == made.parsed.client_id, again
found = search_clients.sync(client=client, q="Zoë By")
assert [one.id for one in found.clients] == [made.parsed.client_id], found

wrong = create_client_record.sync(
    client=client, body=CreateClientRequest(first_name="Z", last_name="B", email="no address")
)
assert isinstance(wrong, ApiError) and wrong.details[0].code == "email_invalid", wrong

subscription = create_subscription.sync(
    client=client,
    body=CreateSubscriptionRequest(
        url="https://hooks.example.com/python", event_types=[EventType.CLIENT_CREATED], managed_by="zapier"
    ),
)
assert subscription.enabled and subscription.signing_secret.startswith("whsec_"), subscription
managed = update_subscription.sync(
    subscription.id, client=client, body=UpdateSubscriptionRequest(enabled=False)
)
assert isinstance(managed, ApiError) and managed.is_tool_managed and managed.managed_by == "zapier", managed
print("done")
