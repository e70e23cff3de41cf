import sys
import openapi_client as causeway

config = causeway.Configuration(host=sys.argv[1], api_key={"ApiKey": sys.argv[2]})
with causeway.ApiClient(config) as client:
    leads = causeway.LeadsApi(client)
    lead = causeway.CreateLeadRequest(first_name="Ada", last_name="Byron", email="ada@example.com")
    made = leads.create_lead(lead)
    leads.update_lead(made.client_id, causeway.UpdateLeadRequest(city="Turin"), if_match='"1"')
    read = causeway.RecordsApi(client).get_lead(made.client_id)
    print("done" if (read.city, read.version) == ("Turin", 2) else read)
